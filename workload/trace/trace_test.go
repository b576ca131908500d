package trace_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/internal/samebytes"
	"github.com/spillway-dev/spillway/workload/trace"
)

func TestNothingIsFused(t *testing.T) { samebytes.NothingIsFused(t) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func drain(t interface{ Fatal(...any) }, s workload.Source) []workload.Arrival {
	var all []workload.Arrival
	var a workload.Arrival
	for s.Next(&a) {
		if len(all) > 0 && a.At < all[len(all)-1].At || a.At < 0 {
			t.Fatal("time runs backwards to ", a.At)
		}
		all = append(all, a)
	}
	return all
}

func read(t *testing.T, text, mapping string, options trace.Options) (*trace.Reader, []workload.Arrival) {
	t.Helper()
	if mapping != "" {
		options.Mapping = must(trace.ParseMapping(mapping))
	}
	r, err := trace.New(strings.NewReader(text), "test.csv", options)
	if err != nil {
		t.Fatal(err)
	}
	all := drain(t, r)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return r, all
}

func TestEveryFieldOfALine(t *testing.T) {
	for _, text := range []string{
		"when,who,what,sid,took,in,out,size,level,limit\n2023-11-16T18:17:03.1234567Z,acme,checkout,s1,1.5,10,20,300,1,250ms\n",
		"when;who;what;sid;took;in;out;size;level;limit\r\n2023-11-16 19:17:03.1234567+01:00;\"acme\";checkout;s1;1500ms;10;20;300;1;0.25\r\n",
		"\xef\xbb\xbfwhen\twho\twhat\tsid\ttook\tin\tout\tsize\tlevel\tlimit\n1700158623.1234567\tacme\tcheckout\ts1\t1.5e0\t10.9\t20\t300\t1\t0.25",
		`{"when":1700158623123.4567,"who":"acme","what":"checkout","sid":"s1","took":1.5,"in":10,"out":20,"size":300,"level":1,"limit":0.25,"more":[1,{"a":2}]}` + "\n",
	} {
		r, all := read(t, text, "at=when,tenant=who,class=what,session=sid,key=what,service=took,cost=in+2*out,bytes=size,importance=level,deadline=limit", trace.Options{})
		if len(all) != 1 {
			t.Fatalf("%d arrivals of %q", len(all), text)
		}
		a := all[0]
		if a.At != 0 || a.Service != 1500*time.Millisecond || a.Cost != 50 || a.Bytes != 300 || a.Importance != 1 || a.Deadline != 250*time.Millisecond || a.Session == 0 || a.Key == 0 || a.Key == a.Session {
			t.Errorf("%q is read as %+v", text, a)
		}
		if tenant, class := r.Names().Tenants.String(a.Tenant), r.Names().Classes.String(a.Class); tenant != "acme" || class != "checkout" {
			t.Errorf("%q has tenant %q and class %q", text, tenant, class)
		}
		if want := time.Date(2023, 11, 16, 18, 17, 3, 123456700, time.UTC); !r.Stats().Start.Equal(want) {
			t.Errorf("%q starts at %v, want %v", text, r.Stats().Start, want)
		}
	}
}

func TestInstantsAreExact(t *testing.T) {
	for _, c := range []struct {
		mapping, first, second string
		gap                    time.Duration
	}{
		{"at=t", "2023-11-16 18:17:03.9799600", "2023-11-16 18:17:04.0319601", 52*time.Millisecond + 100},
		{"at=t", "804571201", "804571206", 5 * time.Second},
		{"at=t", "1700158623123", "1700158623124", time.Millisecond},
		{"at=t", "1700158623123456", "1700158623123457", time.Microsecond},
		{"at=t", "1700158623123456789", "1700158623123456790", 1},
		{"at=t", "0.1", "1.1", time.Second},
		{"at=t:ms", "0", "3000", 3 * time.Second},
		{"at=t:us", "0.5", "1", 500},
		{"at=t:m", "0", "1.5", 90 * time.Second},
		{"at=t:h", "0", "0.000000001", 3600},
		{"at=t:s", "1e-05", "0.00002", 10 * time.Microsecond},
		{"at=t:s", "-1", "1.0000000000000000000000001", 2 * time.Second},
	} {
		_, all := read(t, "t\n"+c.first+"\n"+c.second+"\n", c.mapping, trace.Options{})
		if len(all) != 2 || all[1].At != c.gap {
			t.Errorf("%s: %s and %s are read as %v, want %v apart", c.mapping, c.first, c.second, all, c.gap)
		}
	}
}

func TestDamagedLinesAreCountedNamedAndSkipped(t *testing.T) {
	text := strings.Join([]string{
		"t,cost",
		"1,5",
		"x,5",
		"2",
		`"3,5`,
		"",
		"4,-5",
		"99999999999999999999,5",
		"2023-13-45 00:00:00,5",
		"5,\x00\xff",
		"6,5,7",
		`"7"x,5`,
		"8,5",
	}, "\n")
	r, all := read(t, text, "at=t:s,cost=cost", trace.Options{})
	s := r.Stats()
	if len(all) != 2 || s.Rows != 2 || s.Damaged != 9 {
		t.Errorf("%d arrivals, %d rows, %d damaged: %s", len(all), s.Rows, s.Damaged, s)
	}
	want := `9 damaged lines of 11: line 3: at: "x" is no number; line 4: it has 1 values, the header 2; line 5: a quote is not closed; line 7: cost: -5 is negative; line 8: at: 99999999999999999999 is too large`
	if s.String() != want {
		t.Errorf("it says %s, want %s", s, want)
	}
}

func TestALineWithoutEndIsDamagedNotRead(t *testing.T) {
	long := io.MultiReader(strings.NewReader("t\n1\n"), io.LimitReader(repeat('9'), 3<<20), strings.NewReader("\n2\n"))
	r := must(trace.New(long, "long", trace.Options{Mapping: must(trace.ParseMapping("at=t:s"))}))
	if all := drain(t, r); len(all) != 2 || r.Stats().Damaged != 1 || r.Err() != nil {
		t.Errorf("%d arrivals, %s, %v", len(all), r.Stats(), r.Err())
	}
}

type repeat byte

func (b repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

func TestLinesAreBroughtIntoOrder(t *testing.T) {
	text := "end,took,name\n10,9,a\n4,1,b\n3,2.5,c\n20,1,d\n4,1,e\n"
	r, all := read(t, text, "at=end-took,service=took,tenant=name", trace.Options{})
	var got []string
	for _, a := range all {
		got = append(got, r.Names().Tenants.String(a.Tenant)+a.At.String())
	}
	if want := []string{"c0s", "a500ms", "b2.5s", "e2.5s", "d18.5s"}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
	// A window too small for the disorder counts what comes late.
	r, all = read(t, "t\n5\n6\n7\n1\n8\n", "at=t", trace.Options{Window: 2})
	if len(all) != 5 || r.Stats().Late != 1 {
		t.Errorf("%d arrivals, %d late; want 5, 1", len(all), r.Stats().Late)
	}
}

func TestCountsAreDrawnWithinTheirWindow(t *testing.T) {
	options := trace.Options{Seed: 3, Scale: 0.5}
	_, all := read(t, "minute_local,requests\n1998-05-01 00:00:00,1000\n1998-05-01 00:01:00,0\n1998-05-01 00:02:00,601\n", "", options)
	var per [3]int
	for _, a := range all {
		per[a.At/time.Minute]++
	}
	if per[0] != 500 || per[1] != 0 || per[2] < 300 || per[2] > 301 {
		t.Errorf("the minutes have %v requests", per)
	}
	// Uniform within the minute: the halves of 500 differ by less than five sigma.
	first := 0
	for _, a := range all {
		if a.At < 30*time.Second {
			first++
		}
	}
	if first < 195 || first > 305 {
		t.Errorf("%d of 500 come in the first half", first)
	}
	_, again := read(t, "minute_local,requests\n1998-05-01 00:00:00,1000\n1998-05-01 00:01:00,0\n1998-05-01 00:02:00,601\n", "", options)
	if !slices.Equal(all, again) {
		t.Error("the same seed drew other requests")
	}
}

func TestSpreadScaleAndSpeed(t *testing.T) {
	text := "t\n" + strings.Repeat("0\n", 100) + strings.Repeat("3\n", 100)
	_, all := read(t, text, "at=t:s,spread=3s", trace.Options{})
	early := 0
	for _, a := range all {
		if a.At < 1500*time.Millisecond {
			early++
		}
	}
	if early < 25 || early > 75 {
		t.Errorf("%d of 200 come in the first quarter", early)
	}
	if _, all = read(t, text, "at=t:s", trace.Options{Scale: 3}); len(all) != 600 {
		t.Errorf("scaled by 3: %d", len(all))
	}
	if _, all = read(t, text, "at=t:s", trace.Options{Speed: 6}); all[199].At != 500*time.Millisecond {
		t.Errorf("at six times the speed the last is at %v", all[199].At)
	}
}

func TestWhatMakesAFileUnusableIsOneClearLine(t *testing.T) {
	var broken bytes.Buffer
	z := gzip.NewWriter(&broken)
	io.WriteString(z, "t\n"+strings.Repeat("1\n", 100_000))
	z.Close()
	for _, c := range []struct{ text, mapping, says string }{
		{"", "", "it is empty"},
		{"\n\n", "", "it is empty"},
		{"t,x\n1,2\n", "", `no preset knows this header, so say which column means what: at=t,... (columns: "t, x")`},
		{"t,x\n1,2\n", "at=time", `at=time: there is no column "time" (columns: "t, x")`},
		{"t,x\n1,2\n", "at=t:min", `there is no unit "min"`},
		{"t,x\n1,2\n", "at=2*t", "must start with an instant"},
		{"t,x\n1,2\n", "at=t,tenant=t+x", "must be one column"},
		{"t,x\n1,2\n", "at=t,cost=x:ms", "has no unit"},
		{"t,x\n1,2\n", "at=t,cost=q*x", "no whole number"},
		{"t,x\n1,2\n", "at=t,count=x", "add per=1m"},
		{"t,x\n1,2\n", "at=t,only=y:1", `no column "y"`},
		{"t,x\n1,2\n", "at=t,only=x:1", "leaves out all 1 lines"},
		{"t\n", "at=t", "not one usable line (there is only a header)"},
		{"t\nx\n", "at=t", `not one usable line (1 damaged lines of 1: line 2: at: "x" is no number)`},
		{`{"t":1`, "at=t", "not one usable line (1 damaged lines of 1: line 1: it is no JSON object"},
		{"\x1f\x8bnot gzip", "", "looks like gzip but is not"},
		{broken.String()[:broken.Len()/2], "at=t", "unexpected EOF"},
	} {
		var m trace.Mapping
		if c.mapping != "" {
			m = must(trace.ParseMapping(c.mapping))
		}
		r, err := trace.New(strings.NewReader(c.text), "bad.csv", trace.Options{Mapping: m})
		if err == nil {
			drain(t, r)
			err = r.Err()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "trace bad.csv: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.20q with %q: %v; want it to say %s", c.text, c.mapping, err, c.says)
		}
	}
	disk := errors.New("disk on fire")
	r := must(trace.New(io.MultiReader(strings.NewReader("t\n1\n2\n"), iotest.ErrReader(disk)), "x", trace.Options{Mapping: must(trace.ParseMapping("at=t"))}))
	if all := drain(t, r); len(all) != 2 || !errors.Is(r.Err(), disk) {
		t.Errorf("%d arrivals before %v", len(all), r.Err())
	}
}

func TestHeaderlessFiles(t *testing.T) {
	r, all := read(t, "00004,1\n00018,3\n", "at=2:s,tenant=1,header=no", trace.Options{})
	if len(all) != 2 || all[1].At != 2*time.Second || r.Names().Tenants.Len() != 3 {
		t.Errorf("%v", all)
	}
}

func TestMappingsAreReadAndPrinted(t *testing.T) {
	for _, text := range []string{
		"at=t", "at=t:ms,tenant=h,cost=a+2*b,per=1m0s,spread=3s,only=k:v,header=no", "at=end-took,count=n,per=1m0s",
	} {
		if got := must(trace.ParseMapping(text)).String(); got != text {
			t.Errorf("%q prints as %q", text, got)
		}
	}
	for _, p := range trace.Presets() {
		if m, err := trace.ParseMapping(p.Name); err != nil || m != p.Mapping || p.From == "" {
			t.Errorf("preset %s: %v", p.Name, err)
		}
	}
	for text, says := range map[string]string{
		"": "write at=TIMESTAMP", "at": "no KEY=VALUE", "when=t": `no key "when"; the keys are at, tenant`, "at=a,at=b": "given twice", "at=a,per=1": "like per=1m",
		"at=a,per=-1s": "above 0s", "only=x": "only=COLUMN:VALUE", "header=maybe": "yes or no", "at=": "no KEY=VALUE",
	} {
		if _, err := trace.ParseMapping(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v; want %s", text, err, says)
		}
	}
}

func FuzzMapping(f *testing.F) {
	f.Add("at=t:ms,tenant=h,cost=a+2*b,per=1m0s,spread=3s,only=k:v,header=no")
	f.Add("mooncake")
	f.Add("at=t+-2*x:s")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := trace.ParseMapping(text)
		if err != nil {
			return
		}
		if again, err := trace.ParseMapping(m.String()); err != nil || again != m {
			t.Fatalf("%q prints as %q: %v", text, m, err)
		}
		if r, err := trace.New(strings.NewReader("t,h,a,b,k\n1,x,2,3,v\n"), "fuzz", trace.Options{Mapping: m}); err == nil {
			drain(t, workload.Take(r, 100))
		}
	})
}

// Whatever the file: no panic, time in order, and every line is a row, left out
// or damaged.
func FuzzTrace(f *testing.F) {
	f.Add([]byte("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n"), "")
	f.Add([]byte("minute_local,requests\n1998-04-30 21:30:00,2\n1998-04-30 21:30:00,11\n"), "")
	f.Add([]byte(`{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}`+"\n{}\n"), "")
	f.Add([]byte("host\ttime\tmethod\turl\tresponse\tbytes\nh071758\t804571201\tGET\t/\t200\t-\n"), "")
	f.Add([]byte("scheduler,client,arrival_s,input_tokens,output_tokens\nVTC,1,0.9,256,256\nLCF,1,0.1,1,1\n"), "")
	f.Add([]byte("app,func,end_timestamp,duration\na,b,0.0794,0.078\n\"q\"\"q\",,,\n"), "")
	f.Add([]byte("a;b\n1;2\n"), "at=a-b,service=b,cost=9*b+a,session=a")
	f.Add([]byte("1,9e18\n-0,+.5\n"), "at=2,header=no,cost=1")
	f.Fuzz(func(t *testing.T, file []byte, mapping string) {
		m, err := trace.ParseMapping(mapping)
		if err != nil && mapping != "" {
			return
		}
		r, err := trace.New(bytes.NewReader(file), "fuzz", trace.Options{Mapping: m, Window: 3})
		if err != nil {
			return
		}
		drain(t, workload.Take(r, 1000))
		if s := r.Stats(); s.Left > s.Rows || int64(len(s.First)) > s.Damaged || s.Rows+s.Damaged > int64(bytes.Count(file, []byte("\n")))+1 {
			t.Fatalf("%+v of %d bytes", s, len(file))
		}
	})
}
