package purchases_test

import (
	"testing"

	"github.com/spillway-dev/spillway/lab/fallback/ap/purchases"
	"github.com/spillway-dev/spillway/test/need"
)

// Real logs of two shops. Rows and customers are those that their own
// description counts.
func TestRealShops(t *testing.T) {
	for file, want := range map[string]purchases.Log{
		"customers/CDNOW_master.txt.gz": {
			About: `customer "customer_id", time "date", amount "dollar_value"`, Customers: 23570,
			Rows: 69659, Orders: 67511, Worthless: 80},
		"customers/online_retail_invoices.csv.gz": {
			About: `customer "customer_id", time "invoice_date", amount "value_gbp"`, Customers: 4372,
			Rows: 25900, Nobodys: 3710, Orders: 18410, Returns: 3649, Worthless: 4},
		// The same shop line by line: an invoice whose lines bear two minutes is
		// two orders here.
		"customers/online_retail_lines.csv.gz": {
			About: `customer "customer_id", time "invoice_date", amount "quantity" x "unit_price"`, Customers: 4372,
			Rows: 541909, Nobodys: 135080, Orders: 18440, Returns: 3650, Worthless: 40},
	} {
		t.Run(file, func(t *testing.T) {
			l, err := purchases.Open(need.Data(t, file))
			if err != nil {
				t.Fatal(err)
			}
			got := purchases.Log{About: l.About, Customers: l.Customers, Rows: l.Rows, Nobodys: l.Nobodys,
				Orders: l.Orders, Returns: l.Returns, Worthless: l.Worthless}
			if got.About != want.About || got.Customers != want.Customers || got.Rows != want.Rows || got.Nobodys != want.Nobodys ||
				got.Orders != want.Orders || got.Returns != want.Returns || got.Worthless != want.Worthless {
				t.Errorf("read %+v\nwant %+v", got, want)
			}
		})
	}
}
