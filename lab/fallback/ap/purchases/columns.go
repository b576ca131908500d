package purchases

import (
	"fmt"
	"slices"
	"strings"
)

// columns says where in a row what stands; -1 where nowhere.
type columns struct {
	customer, time, amount, quantity, price int
	count                                   int // of columns
	about                                   string
}

// The names of columns, as shops write them, in order of preference; case,
// blanks and signs do not count.
var (
	customerNames = []string{"customerid", "customer", "custid", "cust", "customernumber", "userid", "user", "clientid", "client", "buyerid", "buyer", "memberid", "accountid", "account", "visitorid"}
	timeNames     = []string{"time", "timestamp", "datetime", "invoicedate", "orderdate", "purchasedate", "transactiondate", "orderedat", "createdat", "eventtime", "date", "day", "ts"}
	amountNames   = []string{"amount", "totalamount", "orderamount", "value", "ordervalue", "dollarvalue", "total", "ordertotal", "totalprice", "revenue", "sales", "spend", "paid", "dollars"}
	amountStems   = []string{"amount", "value", "revenue", "total"} // with a currency behind: value_gbp
	quantityNames = []string{"quantity", "qty", "units"}
	priceNames    = []string{"unitprice", "price", "priceperunit"}
)

// headerOf says what the columns of a header are. It reports false where the row
// is no header: one of its values begins with a digit.
func headerOf(row []string) (columns, bool, error) {
	var names []string
	for _, text := range row {
		text = strings.TrimSpace(text)
		if text != "" && text[0] >= '0' && text[0] <= '9' {
			return columns{}, false, nil
		}
		names = append(names, plain(text))
	}
	c := columns{
		customer: find(names, customerNames), time: find(names, timeNames), amount: find(names, amountNames),
		quantity: find(names, quantityNames), price: find(names, priceNames), count: len(names),
	}
	if c.amount < 0 {
		c.amount = slices.IndexFunc(names, func(name string) bool {
			return slices.ContainsFunc(amountStems, func(stem string) bool { return strings.HasPrefix(name, stem) })
		})
	}
	switch {
	case c.customer < 0:
		return c, true, missing("customer", row)
	case c.time < 0:
		return c, true, missing("time", row)
	case c.amount < 0 && (c.quantity < 0 || c.price < 0):
		if c.price < 0 {
			return c, true, missing("amount", row)
		}
		c.amount, c.price = c.price, -1
	}
	name := func(i int) string { return quote(strings.TrimSpace(row[i])) }
	c.about = fmt.Sprintf("customer %s, time %s, amount ", name(c.customer), name(c.time))
	if c.amount >= 0 {
		c.about += name(c.amount)
	} else {
		c.about += name(c.quantity) + " x " + name(c.price)
	}
	return c, true, nil
}

// bare is what columns are without a header.
func bare(count int) (columns, error) {
	switch count {
	case 3:
		return columns{customer: 0, time: 1, amount: 2, quantity: -1, price: -1, count: 3, about: "no header: customer, time, amount"}, nil
	case 4:
		return columns{customer: 0, time: 1, amount: 3, quantity: 2, price: -1, count: 4, about: "no header: customer, time, quantity, amount"}, nil
	}
	return columns{}, fmt.Errorf("%d columns and no header: give it a first line such as customer,time,amount", count)
}

func missing(what string, row []string) error {
	return fmt.Errorf("no column of the header %s is known to be the %s: name it %s", quote(strings.Join(row, ",")), what, what)
}

func find(names, wanted []string) int {
	for _, name := range wanted {
		if i := slices.Index(names, name); i >= 0 {
			return i
		}
	}
	return -1
}

// plain leaves letters and digits, small.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, name)
}

// quote makes a text from a file fit for a message.
func quote(text string) string {
	const long = 60
	if len(text) > long {
		text = text[:long] + "..."
	}
	return fmt.Sprintf("%q", text)
}
