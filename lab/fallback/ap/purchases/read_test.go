package purchases_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/lab/fallback/ap/purchases"
)

// show writes a log as: customer day time amount, an event a line.
func show(l *purchases.Log) string {
	var b strings.Builder
	for _, e := range l.Events {
		fmt.Fprintf(&b, "%d %s %.2f\n", e.Customer, time.Unix(e.At, 0).UTC().Format("2006-01-02 15:04:05"), float64(e.Cents)/100)
	}
	return b.String()
}

func TestFilesAsShopsWriteThem(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"header in any order, other columns ignored": {
			"order,amount,when?,customer_id,time\n1,12.50,x,b,2024-03-01 10:00:00\n2,1,x,a,2024-03-02\n",
			"0 2024-03-01 10:00:00 12.50\n1 2024-03-02 00:00:00 1.00\n"},
		"quantity and unit price": {
			"CustomerID,InvoiceDate,Quantity,UnitPrice\n7,2011-01-04 10:00,6,2.55\n",
			"0 2011-01-04 10:00:00 15.30\n"},
		"an amount is preferred to quantity and price": {
			"customer,time,quantity,unit_price,total\n7,2011-01-04,6,2.55,14\n",
			"0 2011-01-04 00:00:00 14.00\n"},
		"a price without a quantity is an amount": {
			"user,timestamp,price\n7,2011-01-04,6\n",
			"0 2011-01-04 00:00:00 6.00\n"},
		"the currency behind the amount": {
			"customer,date,value_eur\n7,2011-01-04,6\n",
			"0 2011-01-04 00:00:00 6.00\n"},
		"blanks between values, no header, quantity third": {
			" 00001 19970101  1   11.77\n 00002 19970112  5   77.00\n",
			"0 1997-01-01 00:00:00 11.77\n1 1997-01-12 00:00:00 77.00\n"},
		"no header, three columns": {
			"a,2024-01-01,5\n", "0 2024-01-01 00:00:00 5.00\n"},
		"semicolons and decimal commas, byte order mark, CRLF": {
			"\ufeffKunde;Customer;Date;Amount\r\nx;1;31.12.2023;12,50\r\n\r\nx;1;01.02.2024;1.234,5e0\r\n",
			""},
		"decimal commas": {
			"customer;date;amount\n1;31.12.2023 8:05;12,50\n",
			"0 2023-12-31 08:05:00 12.50\n"},
		"quotes, thousands, a currency's sign": {
			"customer,date,amount\n\"Miller, A.\",2024-01-01,\"-$1,234.50\"\n",
			"0 2024-01-01 00:00:00 -1234.50\n"},
		"tabs": {
			"customer\tdate\tamount\na b\t2024-01-01\t5\n", "0 2024-01-01 00:00:00 5.00\n"},
		"zones": {
			"customer,time,amount\na,2024-01-01T01:30:00+02:00,5\na,2024-01-01T01:30:00.25Z,5\n",
			"0 2023-12-31 23:30:00 5.00\n0 2024-01-01 01:30:00 5.00\n"},
		"seconds and milliseconds since 1970": {
			"customer,time,amount\na,1704067200,5\na,1704067260000,5\n",
			"0 2024-01-01 00:00:00 5.00\n0 2024-01-01 00:01:00 5.00\n"},
		"one date decides that the month comes first, for those before it too": {
			"customer,time,amount\na,1/2/2011 8:26,5\na,12/13/10 8:26,5\n",
			"0 2010-12-13 08:26:00 5.00\n0 2011-01-02 08:26:00 5.00\n"},
		"one date decides that the day comes first": {
			"customer,time,amount\na,2011-03-01,5\na,1/2/2011,5\na,13/12/2010,5\n",
			"0 2010-12-13 00:00:00 5.00\n0 2011-02-01 00:00:00 5.00\n0 2011-03-01 00:00:00 5.00\n"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := purchases.Read(strings.NewReader(c.file), "shop.csv")
			if c.want == "" {
				if err == nil {
					t.Fatalf("read as\n%s, must be refused: the number is in no one's notation", show(l))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := show(l); got != c.want {
				t.Errorf("read\n%swant\n%s", got, c.want)
			}
		})
	}
}

// The rule of what a row is, in doc.go.
func TestOrdersReturnsAndRowsThatAreNeither(t *testing.T) {
	l, err := purchases.Read(strings.NewReader(`customer,time,amount
a,2024-01-01 10:00,5
a,2024-01-01 10:00,7
a,2024-01-01 10:00,-2
a,2024-01-01 10:00,-1
a,2024-01-02 10:00,-9
b,2024-01-02 10:00,0
b,2024-01-01 10:00,0.001
,2024-01-01 10:00,5
NULL,2024-01-01 10:00,5
`), "shop.csv")
	if err != nil {
		t.Fatal(err)
	}
	want := "0 2024-01-01 10:00:00 12.00\n0 2024-01-01 10:00:00 -3.00\n0 2024-01-02 10:00:00 -9.00\n1 2024-01-01 10:00:00 0.01\n"
	if got := show(l); got != want {
		t.Errorf("read\n%swant\n%s", got, want)
	}
	if l.Rows != 9 || l.Nobodys != 2 || l.Worthless != 1 || l.Orders != 2 || l.Returns != 2 || l.Customers != 2 {
		t.Errorf("%d rows, %d nobody's, %d of amount 0, %d orders, %d returns, %d customers; want 9, 2, 1, 2, 2, 2",
			l.Rows, l.Nobodys, l.Worthless, l.Orders, l.Returns, l.Customers)
	}
	if got, want := l.Span(), "2024-01-01 to 2024-01-02"; got != want {
		t.Errorf("span %s, want %s", got, want)
	}
	if got := time.Unix(l.End(), 0).UTC(); !got.Equal(time.Date(2024, 1, 3, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("the log ends at %v, want the end of its last day", got)
	}
}

// What is wrong is said in one line that names file, line and what would be
// right.
func TestWhatIsRefused(t *testing.T) {
	head := "customer,time,amount\n"
	for name, c := range map[string]struct{ file, want string }{
		"nothing":         {"", "shop.csv: it is empty"},
		"a header alone":  {head, "shop.csv: no row has a customer and an amount other than zero"},
		"no customer":     {"who,time,amount\n", `shop.csv:1: no column of the header "who,time,amount" is known to be the customer: name it customer`},
		"no time":         {"customer,when,amount\n", `shop.csv:1: no column of the header "customer,when,amount" is known to be the time: name it time`},
		"no amount":       {"customer,time,quantity\n", `shop.csv:1: no column of the header "customer,time,quantity" is known to be the amount: name it amount`},
		"columns unnamed": {"1,2,3,4,5\n", "shop.csv:1: 5 columns and no header: give it a first line such as customer,time,amount"},
		"a short row":     {head + "a,2024-01-01,1\na,2024-01-01\n", "shop.csv:3: 2 values, the first line has 3"},
		"no such day":     {head + "a,2024-02-30,1\n", `shop.csv:2: time "2024-02-30": write 2006-01-02 15:04:05, 2006-01-02, 20060102, RFC 3339 or seconds since 1970`},
		"a far year":      {head + "a,9999-01-01,1\n", `shop.csv:2: time "9999-01-01": write`},
		"no number":       {head + "a,2024-01-01,abc\n", `shop.csv:2: amount "abc": write a number such as 12.50, at most 1000000000000`},
		"not a number":    {head + "a,2024-01-01,NaN\n", `shop.csv:2: amount "NaN"`},
		"infinite":        {head + "a,2024-01-01,-Inf\n", `shop.csv:2: amount "-Inf"`},
		"too large":       {head + "a,2024-01-01,1e300\n", `shop.csv:2: amount "1e300"`},
		"too large a product": {
			"customer,time,quantity,price\na,2024-01-01,1e9,1e9\n", "shop.csv:2: quantity times price is 1e+18: at most 1000000000000"},
		"misplaced thousands": {"customer;time;amount\na;2024-01-01;1,23,4\n", `shop.csv:2: amount "1,23,4"`},
		"day or month":        {head + "a,1/2/2011,1\na,2/1/2011,1\n", "shop.csv:2: day or month first? No date of the file decides; write 2006-01-02"},
		"both orders": {head + "a,13/2/2011,1\na,2/13/2011,1\n",
			"shop.csv:3: the date has its day and month in another order than line 2: write 2006-01-02"},
		"quotes left open":                     {head + "\"a,2024-01-01,1\n", "shop.csv:2: its quotes do not match: a value in quotes ends on its line, and a quote inside is doubled"},
		"UTF-16":                               {"c\x00u\x00", "shop.csv:1: it holds a NUL: save the file as UTF-8 text"},
		"a long line":                          {head + strings.Repeat("a", 70_000) + ",2024-01-01,1\n", "shop.csv:2: the line is longer than 65536 bytes: is this a file of purchases?"},
		"a long name":                          {head + strings.Repeat("a", 200) + ",2024-01-01,1\n", "shop.csv:2: a customer's name of 200 bytes: at most 128"},
		"many columns":                         {strings.Repeat("a,", 300) + "\n", "shop.csv:1: more than 256 columns: keep customer, time and amount"},
		"half a gzip":                          {"\x1f\x8b\x08", "shop.csv: it begins like a gzipped file, and is none: unexpected EOF"},
		"control characters in what is quoted": {head + "a,\x1b[2J,1\n", `shop.csv:2: time "\x1b[2J": write`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := purchases.Read(strings.NewReader(c.file), "shop.csv")
			if err == nil {
				t.Fatal("it was read")
			}
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %q, want %q", err, c.want)
			}
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("error %q is not one clean line", err)
			}
		})
	}
}

func TestTooManyCustomersAreRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString("customer,time,amount\n")
	for i := range purchases.MaxCustomers + 1 {
		fmt.Fprintf(&b, "%d,20240101,1\n", i)
	}
	_, err := purchases.Read(strings.NewReader(b.String()), "shop.csv")
	if want := "shop.csv:200002: more than 200000 customers: cut the log to some of them"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestOpenUnzips(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.csv.gz")
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	fmt.Fprint(z, "customer,time,amount\na,2024-01-01,5\n")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	whole := zipped.Bytes()
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := purchases.Open(path)
	if err != nil || l.Orders != 1 {
		t.Fatalf("%+v, %v; want one order", l, err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = purchases.Open(path); err == nil || !strings.HasSuffix(err.Error(), "unexpected EOF") || !strings.HasPrefix(err.Error(), path+":") {
		t.Errorf("cut short: error %v, want one with the file, the line and unexpected EOF", err)
	}
	if _, err = purchases.Open(path + ".not"); err == nil {
		t.Error("a file that does not exist was opened")
	}
}
