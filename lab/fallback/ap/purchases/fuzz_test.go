package purchases_test

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/lab/fallback/ap/purchases"
)

// Whatever a file holds, it is read into a log that keeps its promises, or
// refused in one line.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"customer,time,amount\na,2024-01-01 10:00:00,12.50\na,2024-01-02,-1\n,2024-01-02,3\n",
		"CustomerID;InvoiceDate;Quantity;UnitPrice\n1;13/12/2010 8:26;6;2,55\n",
		" 00001 19970101  1   11.77\n 00002 19970112  5   77.00\n",
		"user\tts\tprice\nx\t1704067200\t1e3\n",
		"customer,time,amount\n\"a,\"\"b\",1/2/2011,\"1,234.5\"\n",
		"\ufeffcustomer,date,value_gbp\r\n1,2024-01-01T00:00:00+14:00,1\r\n",
		"\x1f\x8b\x08\x00",
		"a,1/2/2011,1\na,2011-01-01,1\na,31/1/2011,0\n",
		"c,9223372036854775807,1\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		l, err := purchases.Read(bytes.NewReader(file), "f")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %q: want one line that begins with the file's name", err)
			}
			return
		}
		if l.Orders+l.Returns != len(l.Events) || l.Nobodys+l.Worthless > l.Rows || len(l.Events) > l.Rows {
			t.Fatalf("the counts do not agree: %+v", l)
		}
		ordered := slices.IsSortedFunc(l.Events, func(a, b purchases.Event) int {
			return cmp.Or(cmp.Compare(a.Customer, b.Customer), cmp.Compare(a.At, b.At), cmp.Compare(b.Cents, a.Cents))
		})
		if !ordered {
			t.Fatal("events are not by customer and time")
		}
		for i, e := range l.Events {
			if e.Cents == 0 || e.Customer < 0 || e.Customer >= l.Customers || e.At < l.First || e.At > l.Last || e.At >= l.End() {
				t.Fatalf("event %+v of %+v", e, l)
			}
			if i > 0 && l.Events[i-1].Customer == e.Customer && l.Events[i-1].At == e.At && l.Events[i-1].Bought() == e.Bought() {
				t.Fatalf("two orders, or two returns, of one customer at one instant: %+v", e)
			}
		}
	})
}
