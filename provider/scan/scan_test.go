package scan_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/provider/scan"
)

func TestMembersAreFoundAsTheyStand(t *testing.T) {
	doc := []byte(" { \"a\" : {\"b\":[1,\"]}\\\"\",{}]} ,\n\"us\\u0061ge\":null,\"t\":\"x\\ny\", \"a\":2 }")
	for _, c := range []struct{ key, want string }{
		{"a", "2"}, // decoders keep the last
		{"usage", "null"},
		{"t", `"x\ny"`},
		{"b", ""},
	} {
		if got := scan.Member(doc, c.key); string(got) != c.want {
			t.Errorf("%s: %q, want %q", c.key, got, c.want)
		}
	}
	var elements []string
	for v := range scan.Array([]byte(`[1, "a,b" ,[2,3],{"x":[]}, null]`)) {
		elements = append(elements, string(v))
	}
	if want := []string{"1", `"a,b"`, "[2,3]", `{"x":[]}`, "null"}; len(elements) != len(want) {
		t.Errorf("%q, want %q", elements, want)
	}
}

func TestWholeNumbers(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"12", 12, true}, {"-3", -3, true}, {"12.0", 12, true}, {"1e3", 1000, true},
		{"1000000000000000000", 1e18, true}, {"1e18", 0, false}, {"1e400", 0, false}, {"99999999999999999999", 0, false},
		{"12.5", 0, false}, {`"12"`, 0, false}, {"null", 0, false}, {"true", 0, false}, {"", 0, false}, {"[1]", 0, false}, {"NaN", 0, false},
	} {
		if got, ok := scan.Int([]byte(c.text)); got != c.want || ok != c.ok {
			t.Errorf("%s: %d %v, want %d %v", c.text, got, ok, c.want, c.ok)
		}
	}
}

// anything is a JSON value at random.
func anything(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just[any](nil), rapid.Just[any](true),
		rapid.Map(rapid.Int32(), func(n int32) any { return n }),
		rapid.Map(rapid.String(), func(s string) any { return s }),
	)
	if depth == 0 {
		return leaf
	}
	inner := anything(depth - 1)
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(inner, 0, 4), func(v []any) any { return v }),
		rapid.Map(rapid.MapOfN(rapid.String(), inner, 0, 4), func(v map[string]any) any { return v }))
}

// What is found is what a decoder finds, in one piece and in many.
func TestFindsWhatADecoderFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc, err := json.Marshal(rapid.MapOfN(rapid.SampledFrom([]string{"usage", "error", "x", "é\"\\"}), anything(3), 0, 4).Draw(t, "doc"))
		if err != nil {
			t.Skip()
		}
		if rapid.Bool().Draw(t, "indented") {
			var b bytes.Buffer
			json.Indent(&b, doc, " ", "\t")
			doc = b.Bytes()
		}
		var want map[string]json.RawMessage
		json.Unmarshal(doc, &want)
		p := scan.Picker{Keys: []string{"usage", "error"}, Most: 1 << 20}
		for rest := doc; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			p.Write(rest[:n])
			rest = rest[n:]
		}
		if !p.Whole() {
			t.Fatalf("%s: has not ended", doc)
		}
		for _, key := range []string{"usage", "error", "x", "é\"\\"} {
			if got := scan.Member(doc, key); !bytes.Equal(got, want[key]) {
				t.Fatalf("%s in %s: %s, want %s", key, doc, got, want[key])
			}
			if key == "x" || key[0] > 'z' {
				continue
			}
			if got, ok, _ := p.Value(key); !bytes.Equal(got, want[key]) || ok != (want[key] != nil) {
				t.Fatalf("%s picked of %s: %s %v, want %s", key, doc, got, ok, want[key])
			}
		}
	})
}

func TestAValueThatIsTooLongIsLostAndNothingElse(t *testing.T) {
	p := scan.Picker{Keys: []string{"choices", "usage"}, Most: 32}
	p.Write([]byte(`{"choices":["` + string(bytes.Repeat([]byte("x"), 100)) + `"],"usage":{"a":1}}`))
	if v, ok, lost := p.Value("choices"); ok || !lost || len(v) != 0 {
		t.Errorf("choices: %q %v %v", v, ok, lost)
	}
	if v, ok, _ := p.Value("usage"); !ok || string(v) != `{"a":1}` {
		t.Errorf("usage: %q %v", v, ok)
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"usage":{"a":[1,"x"]}}`, `[{"a":1},`, `{"a"`, `{"a":"\`, `{"\u00`, `{"a":]}`, "{", `{"a":1}}`, "\xef\xbb\xbf{}"} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, doc []byte, piece int) {
		p := scan.Picker{Keys: []string{"usage", "a"}, Most: 64}
		piece = max(piece, 1)
		for rest := doc; len(rest) > 0; {
			n := min(piece, len(rest))
			p.Write(rest[:n])
			rest = rest[n:]
		}
		for k, v := range scan.Object(doc) {
			scan.Text(v)
			scan.Int(v)
			for range scan.Array(v) {
				scan.Path(v, string(k), "a")
			}
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(doc, &want) != nil || want == nil {
			return
		}
		for key, value := range want {
			if bytes.ContainsRune([]byte(key), '\uFFFD') {
				continue // a decoder repairs what is no UTF-8
			}
			if got := scan.Member(doc, key); !bytes.Equal(got, value) {
				t.Fatalf("%q: %q, want %q", key, got, value)
			}
		}
	})
}

func TestCutLeavesTheRestAsItStands(t *testing.T) {
	for doc, want := range map[string]string{
		`{"a":1,"usage":null}`:                   `{"a":1}`,
		`{"usage":null,"a":1}`:                   `{"a":1}`,
		`{ "a":1 , "usage" : {"x":[1]} , "b":2}`: `{ "a":1 ,  "b":2}`,
		`{"usage":1}`:                            `{}`,
		`{"usage":1,"usage":2}`:                  `{}`,
		`{"a":{"usage":1}}`:                      `{"a":{"usage":1}}`,
		`{"a":1,"usage":null,"usage":{}}`:        `{"a":1}`,
		`[1]`:                                    `[1]`,
	} {
		if got := scan.Cut([]byte(doc), "usage"); string(got) != want {
			t.Errorf("%s: %s, want %s", doc, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.MapOfN(rapid.SampledFrom([]string{"usage", "a", "b"}), anything(2), 0, 3).Draw(t, "doc")
		doc, _ := json.Marshal(members)
		delete(members, "usage")
		want, _ := json.Marshal(members)
		if got := scan.Cut(doc, "usage"); !bytes.Equal(got, want) {
			t.Fatalf("%s: %s, want %s", doc, got, want)
		}
	})
}
