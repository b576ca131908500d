package purchases

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
)

// Open reads a file, gzipped or not. Errors are one line that begins with the
// file's name and, where one is to blame, the line: shop.csv:17: ...
func Open(path string) (*Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads a log; name is what errors and reports call it.
func Read(in io.Reader, name string) (*Log, error) {
	r := &reader{log: &Log{Name: name}, customers: map[string]int{}}
	if err := r.read(in); err != nil {
		if at := (*fault)(nil); errors.As(err, &at) {
			return nil, fmt.Errorf("%s:%w", name, err)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r.log.Customers = len(r.customers)
	return r.log, r.log.take(r.events)
}

// reader is what is known while a log is read.
type reader struct {
	rows      *rows
	columns   columns
	log       *Log
	customers map[string]int
	events    []Event
	either    either
}

func (r *reader) read(in io.Reader) (err error) {
	if r.rows, err = newRows(in); err != nil {
		return err
	}
	row, err := r.rows.next()
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty")
	}
	if err != nil {
		return err
	}
	columns, isHeader, err := headerOf(row)
	if err == nil && !isHeader {
		columns, err = bare(len(row))
	}
	if err != nil {
		return r.rows.errorf("%w", err)
	}
	r.columns, r.log.About = columns, columns.about
	if isHeader {
		row, err = r.rows.next()
	}
	for ; err == nil; row, err = r.rows.next() {
		if err := r.take(row); err != nil {
			return r.rows.errorf("%w", err)
		}
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return r.either.settle(r.events)
}

// take takes in a row.
func (r *reader) take(row []string) error {
	if len(row) != r.columns.count {
		return fmt.Errorf("%d values, the first line has %d", len(row), r.columns.count)
	}
	if r.log.Rows++; r.log.Rows > MaxRows {
		return fmt.Errorf("more than %d rows: cut the log to some of its customers", MaxRows)
	}
	name := row[r.columns.customer]
	if nobody(name) {
		r.log.Nobodys++
		return nil
	}
	when, ok := readTime(row[r.columns.time])
	if !ok {
		return fmt.Errorf("time %s: %s", quote(row[r.columns.time]), timeHelp)
	}
	amount, err := r.amount(row)
	if err != nil {
		return err
	}
	customer, known := r.customers[name]
	if !known {
		if len(name) > maxName {
			return fmt.Errorf("a customer's name of %d bytes: at most %d", len(name), maxName)
		}
		if customer = len(r.customers); customer == MaxCustomers {
			return fmt.Errorf("more than %d customers: cut the log to some of them", MaxCustomers)
		}
		r.customers[strings.Clone(name)] = customer
	}
	r.either.note(when, len(r.events), r.rows.line)
	r.events = append(r.events, Event{Customer: customer, At: when.at, Cents: inCents(amount)})
	return nil
}

// nobody reports whether a name stands for none.
func nobody(name string) bool {
	switch strings.ToLower(name) {
	case "", "null", "nan", "none", "na", "n/a":
		return true
	}
	return false
}

func (r *reader) amount(row []string) (float64, error) {
	number := func(column int) (float64, error) {
		v, ok := readNumber(row[column], r.rows.delimiter)
		if !ok {
			return 0, fmt.Errorf("amount %s: write a number such as 12.50, at most %.0f", quote(row[column]), float64(maxNumber))
		}
		return v, nil
	}
	if r.columns.amount >= 0 {
		return number(r.columns.amount)
	}
	quantity, err := number(r.columns.quantity)
	if err != nil {
		return 0, err
	}
	price, err := number(r.columns.price)
	if err == nil && !(math.Abs(quantity*price) <= maxNumber) {
		err = fmt.Errorf("quantity times price is %g: at most %.0f", quantity*price, float64(maxNumber))
	}
	return quantity * price, err
}

// either keeps both readings of dates such as 1/2/2011 until a row decides for
// the whole file.
type either struct {
	from      int     // the event that the first of readings belongs to
	readings  []int64 // day first, of every event since
	line      int     // of the first date of the kind; 0: there is none
	dayLine   int     // the first that is a date only with the day first
	monthLine int     // and with the month first
}

func (e *either) note(when instant, event, line int) {
	if when.ambiguous && e.line == 0 {
		e.from, e.line = event, line
	}
	if e.line == 0 {
		return
	}
	if !when.ambiguous {
		when.dayFirst = when.at
	}
	e.readings = append(e.readings, when.dayFirst)
	switch {
	case when.only == 'd' && e.dayLine == 0:
		e.dayLine = line
	case when.only == 'm' && e.monthLine == 0:
		e.monthLine = line
	}
}

// settle gives the events the reading that the file's rows decide for.
func (e *either) settle(events []Event) error {
	switch {
	case e.line == 0:
	case e.dayLine > 0 && e.monthLine > 0:
		return &fault{max(e.dayLine, e.monthLine), fmt.Errorf("the date has its day and month in another order than line %d: write 2006-01-02", min(e.dayLine, e.monthLine))}
	case e.dayLine > 0:
		for i, at := range e.readings {
			events[e.from+i].At = at
		}
	case e.monthLine == 0:
		return &fault{e.line, errors.New("day or month first? No date of the file decides; write 2006-01-02")}
	}
	return nil
}
