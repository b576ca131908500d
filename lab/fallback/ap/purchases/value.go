package purchases

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// An instant as written. Where day and month cannot be told apart, both readings
// are kept until a row of the file decides.
type instant struct {
	at        int64 // read month first, where both are possible
	dayFirst  int64 // the other reading
	ambiguous bool  // slashes or dashes, year last
	only      byte  // of those: 'd' or 'm' where just that order gives a date
}

// Years that a log may be of: what lies outside is no time of a purchase.
const firstYear, lastYear = 1970, 2199

// timeHelp is what a time may look like.
const timeHelp = "write 2006-01-02 15:04:05, 2006-01-02, 20060102, RFC 3339 or seconds since 1970"

// readTime reads an instant. A text without a zone is taken for UTC.
func readTime(text string) (instant, bool) {
	if len(text) > 10 && text[10] == 'T' {
		text = text[:10] + " " + text[11:]
	}
	date, clock, _ := strings.Cut(text, " ")
	if digits(date) && clock == "" {
		return readDigits(date)
	}
	seconds, ok := readClock(strings.TrimSpace(clock))
	if !ok {
		return instant{}, false
	}
	sep := strings.IndexAny(date, "-/.")
	if sep < 0 {
		return instant{}, false
	}
	parts := strings.Split(date, date[sep:sep+1])
	if len(parts) != 3 {
		return instant{}, false
	}
	var n [3]int
	for i, p := range parts {
		if !digits(p) || len(p) > 4 {
			return instant{}, false
		}
		n[i], _ = strconv.Atoi(p)
	}
	if len(parts[0]) == 4 {
		at, ok := dayOf(n[0], n[1], n[2])
		return instant{at: at + seconds}, ok
	}
	if len(parts[2]) == 2 {
		n[2] += 2000
	}
	dayFirst, isDay := dayOf(n[2], n[1], n[0])
	if date[sep] == '.' {
		return instant{at: dayFirst + seconds}, isDay
	}
	monthFirst, isMonth := dayOf(n[2], n[0], n[1])
	i := instant{at: monthFirst + seconds, dayFirst: dayFirst + seconds, ambiguous: true}
	switch {
	case isDay && !isMonth:
		i.only = 'd'
	case isMonth && !isDay:
		i.only = 'm'
	}
	return i, isDay || isMonth
}

// readDigits reads 20060102, or seconds or milliseconds since 1970.
func readDigits(text string) (instant, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return instant{}, false
	case len(text) == 8:
		at, ok := dayOf(int(n/10_000), int(n/100%100), int(n%100))
		return instant{at: at}, ok
	case len(text) == 13:
		n /= 1000
	case len(text) != 9 && len(text) != 10:
		return instant{}, false
	}
	year := time.Unix(n, 0).UTC().Year()
	return instant{at: n}, year >= firstYear && year <= lastYear
}

// readClock reads 15:04, 15:04:05.678 and a zone, Z or +02:00, as the seconds to
// add to midnight in UTC. Nothing is midnight.
func readClock(text string) (int64, bool) {
	if text == "" {
		return 0, true
	}
	for _, layout := range [...]string{"15:04:05", "15:04", "15:04:05Z07:00", "15:04Z07:00", "15:04:05 -0700", "15:04:05 UTC"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.Unix() - time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), true
		}
	}
	return 0, false
}

// dayOf returns the midnight at which a day begins.
func dayOf(year, month, day int) (int64, bool) {
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	real := year >= firstYear && year <= lastYear && t.Month() == time.Month(month) && t.Day() == day
	return t.Unix(), real
}

func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// maxNumber bounds an amount, and a quantity times a price.
const maxNumber = 1e12

// readNumber reads a decimal number, with a currency's sign before it or not.
// Where values are not separated by commas, 12,50 is twelve and a half; where
// they are, "1,234.50" in quotes has commas between its thousands.
func readNumber(text string, delimiter rune) (float64, bool) {
	text = strings.TrimSpace(text)
	minus := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	for _, sign := range []string{"$", "€", "£"} {
		text = strings.TrimPrefix(text, sign)
	}
	if comma := strings.IndexByte(text, ','); comma >= 0 {
		dot := strings.LastIndexByte(text, '.')
		switch {
		case dot < 0 && delimiter != ',' && strings.Count(text, ",") == 1:
			text = text[:comma] + "." + text[comma+1:]
		case dot >= 0 && dot < comma || !grouped(text, dot):
			return 0, false
		default:
			text = strings.ReplaceAll(text, ",", "")
		}
	}
	if text == "" || strings.Trim(text, "0123456789.eE+-") != "" || text[0] == '-' || text[0] == '+' {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v <= maxNumber) {
		return 0, false
	}
	if minus {
		v = -v
	}
	return v, true
}

// grouped reports whether the commas of a number stand before three digits each.
func grouped(text string, dot int) bool {
	if dot >= 0 {
		text = text[:dot]
	}
	for i, group := range strings.Split(text, ",") {
		if !digits(group) || i > 0 && len(group) != 3 || len(group) > 3 {
			return false
		}
	}
	return true
}

// inCents rounds an amount to hundredths. What is there but less than half of
// one counts as one: a purchase at a tenth of a cent is no gift.
func inCents(amount float64) int64 {
	cents := int64(math.Round(amount * 100))
	switch {
	case cents == 0 && amount > 0:
		return 1
	case cents == 0 && amount < 0:
		return -1
	}
	return cents
}
