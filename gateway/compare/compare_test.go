package compare_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway/compare"
	"github.com/spillway-dev/spillway/policy/shed"
)

func ok(body string) compare.Answer { return compare.Answer{Status: 200, Body: []byte(body)} }

func packed(body string) compare.Answer {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(body))
	w.Close()
	return compare.Answer{Status: 200, Coding: "gzip", Body: b.Bytes()}
}

func TestHowFarTwoAnswersAreApart(t *testing.T) {
	const none = -1 // it cannot be said
	exact := config.Compare{Word: config.CompareExact}
	status := config.Compare{Word: config.CompareStatus}
	field := config.Compare{Word: config.CompareField, Field: "result.0.id"}
	whole := config.Compare{Word: config.CompareField, Field: "."}
	ratio := config.Compare{Word: config.CompareNumber, Number: "score"}
	scaled := config.Compare{Word: config.CompareNumber, Number: "score", Scale: 10}
	top := config.Compare{Word: config.CompareOverlap, Overlap: "items", Top: 3, ID: "id"}
	list := config.Compare{Word: config.CompareOverlap, Overlap: ".", Top: 10}
	for _, c := range []struct {
		say            string
		how            config.Compare
		primary, other compare.Answer
		want           float64
	}{
		{"the same", exact, ok("a"), ok("a"), 0},
		{"another body", exact, ok("a"), ok("b"), 1},
		{"another status", exact, ok("a"), compare.Answer{Status: 203, Body: []byte("a")}, 1},
		{"the same, packed", exact, packed("a"), ok("a"), 0},
		{"both packed", exact, packed("a"), packed("a"), 0},
		{"a coding that is not known", exact, compare.Answer{Status: 200, Coding: "br"}, ok(""), none},
		{"the other's coding is not known", exact, ok(""), compare.Answer{Status: 200, Coding: "br"}, 1},
		{"what is no gzip", exact, compare.Answer{Status: 200, Coding: "gzip", Body: []byte("x")}, ok("x"), none},
		{"what unpacks to too much", exact, packed(strings.Repeat("x", compare.UnpackedMost+1)), ok("x"), none},

		{"the same status", status, ok("a"), ok("b"), 0},
		{"not the same", status, ok("a"), compare.Answer{Status: 404}, 1},

		{"an equal value", field, ok(`{"result":[{"id":7}]}`), ok(`{"result":[{"x":1,"id":7.0},2]}`), 0},
		{"another", field, ok(`{"result":[{"id":7}]}`), ok(`{"result":[{"id":8}]}`), 1},
		{"a text is no number", field, ok(`{"result":[{"id":7}]}`), ok(`{"result":[{"id":"7"}]}`), 1},
		{"ids that a float64 cannot tell apart", field, ok(`{"result":[{"id":9007199254740993}]}`), ok(`{"result":[{"id":9007199254740992}]}`), 1},
		{"not there in the other", field, ok(`{"result":[{"id":null}]}`), ok(`{"result":[]}`), 1},
		{"not there in the primary's", field, ok(`{"result":[]}`), ok(`{"result":[{"id":7}]}`), none},
		{"no JSON", field, ok(`<html>`), ok(`{}`), none},
		{"no JSON but the primary's is", field, ok(`{"result":[{"id":7}]}`), ok(`<html>`), 1},
		{"more than one document", field, ok(`{"result":[{"id":7}]} {}`), ok(`{}`), none},
		{"all of it, members in any order", whole, ok(`{"a":[1,true,null],"b":{"c":"d"}}`), ok(`{"b":{"c":"d"},"a":[1.0,true,null]}`), 0},
		{"lists have an order", whole, ok(`[1,2]`), ok(`[2,1]`), 1},
		{"no text ends where another begins", whole, ok(`["a,","b"]`), ok(`["a",",b"]`), 1},

		{"numbers apart, by the larger", ratio, ok(`{"score":8}`), ok(`{"score":6}`), 0.25},
		{"a text that is a number", ratio, ok(`{"score":"8"}`), ok(`{"score":6}`), 0.25},
		{"of another sign", ratio, ok(`{"score":8}`), ok(`{"score":-8}`), 1},
		{"both nothing", ratio, ok(`{"score":0}`), ok(`{"score":0.0}`), 0},
		{"by a scale", scaled, ok(`{"score":100}`), ok(`{"score":97}`), 0.3},
		{"further than the scale", scaled, ok(`{"score":100}`), ok(`{"score":0}`), 1},
		{"no number", scaled, ok(`{"score":[]}`), ok(`{"score":0}`), none},
		{"no number in the other", scaled, ok(`{"score":1}`), ok(`{"score":"NaN"}`), 1},
		{"too large a number", scaled, ok(`{"score":1e999}`), ok(`{"score":1}`), none},
		{"far apart", scaled, ok(`{"score":1e308}`), ok(`{"score":-1e308}`), 1},

		{"all of the first are there", top, ok(`{"items":[{"id":1},{"id":2}]}`), ok(`{"items":[{"id":2},{"id":1,"why":"x"}]}`), 0},
		{"one of three is not", top, ok(`{"items":[{"id":1},{"id":2},{"id":3},{"id":4}]}`), ok(`{"items":[{"id":4},{"id":2},{"id":1}]}`), 1. / 3},
		{"what is twice must be there twice", list, ok(`["a","a"]`), ok(`["a","b"]`), 0.5},
		{"nothing to lose", list, ok(`[]`), ok(`[]`), 0},
		{"nothing, but the other says something", list, ok(`[]`), ok(`[1]`), 1},
		{"no list", list, ok(`{}`), ok(`[1]`), none},
		{"no list in the other", list, ok(`[1]`), ok(`{}`), 1},
		{"elements without an id are told by all of them", top, ok(`{"items":[1]}`), ok(`{"items":[1]}`), 0},
	} {
		got, can := compare.New(c.how).Distance(c.primary, c.other)
		switch {
		case can != (c.want != none):
			t.Errorf("%s: distance %d, %v", c.say, got, can)
		case can && math.Abs(float64(got)-c.want*1e6) > 1:
			t.Errorf("%s: distance %d millionths, want %v", c.say, got, c.want)
		}
	}
}

// FuzzDistance compares whatever services send: it never panics, a distance is from 0
// to 1, and an answer that can be compared is no way from itself.
func FuzzDistance(f *testing.F) {
	for _, s := range []string{`{"a":{"0":1}}`, `[1,2,3]`, `{"a":[1e308,-1e308]}`, `"x"`, ``, `{"a":"1_0"}`, `[[[[[[]]]]]]`, `{"a":0x1}`, `{"a":1e-400}`, "\x1f\x8b"} {
		f.Add(s, s, "a", "identity", 2)
		f.Add(s, `{"a":1}`, "a.0", "gzip", 1)
	}
	f.Fuzz(func(t *testing.T, one, two, way, coding string, top int) {
		for _, how := range []config.Compare{
			{Word: config.CompareExact},
			{Word: config.CompareField, Field: way},
			{Word: config.CompareNumber, Number: way},
			{Word: config.CompareNumber, Number: way, Scale: 1e-15},
			{Word: config.CompareOverlap, Overlap: way, Top: 1 + top&1023, ID: way},
			{Word: config.CompareOverlap, Overlap: ".", Top: 1 + top&1023},
		} {
			h := compare.New(how)
			a, b := compare.Answer{Status: 200, Body: []byte(one), Coding: coding}, compare.Answer{Status: 200, Body: []byte(two), Coding: coding}
			if d, ok := h.Distance(a, b); ok && (d < 0 || d > shed.Useless) {
				t.Fatalf("%+v: distance %d", how, d)
			}
			if d, ok := h.Distance(a, a); ok && d != 0 {
				t.Fatalf("%+v: %q is %d from itself", how, one, d)
			}
		}
	})
}

func BenchmarkOverlap(b *testing.B) {
	var items []string
	for i := range 100 {
		items = append(items, fmt.Sprintf(`{"id":%d,"title":"the title of item %d","score":0.%d}`, i, i, i))
	}
	one := ok(`{"items":[` + strings.Join(items, ",") + `]}`)
	h := compare.New(config.Compare{Word: config.CompareOverlap, Overlap: "items", Top: 10, ID: "id"})
	b.ReportAllocs()
	b.SetBytes(int64(2 * len(one.Body)))
	for b.Loop() {
		h.Distance(one, one)
	}
}
