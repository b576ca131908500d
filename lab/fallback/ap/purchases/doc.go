// Package purchases is an event log of who bought when and for how much, and
// the reader of such logs from files.
//
// [Open] reads a file of lines of values: separated by comma, semicolon, tab or
// blanks, gzipped or not. The header says which column is which, by the names
// that shops use (customer_id, InvoiceDate, value_gbp, ...); a quantity and a
// unit price serve for an amount. Without a header the columns are customer,
// time, amount, or customer, time, quantity, amount.
//
// What a row is:
//
//   - An amount above zero is bought. Rows of one customer at one instant are
//     one order: the lines of an invoice, or a day where the log knows days only.
//   - An amount below zero is a return or a cancellation. It is no order, and it
//     takes nothing back from the past: the customer did come and buy. From its
//     instant on the customer has spent that much less.
//   - An amount of zero says nothing about buying and is counted, not used. So is
//     a row without a customer.
//
// A file is hostile until read: rows, customers, lengths of lines and names, and
// what a gzipped file expands to are bounded, and the first row that cannot be
// read ends the reading with one line that names file, line and what would be
// right. Memory is about 40 bytes a row and the names of the customers.
package purchases
