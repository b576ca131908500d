package trace

import "slices"

// preset is a mapping for files with these columns.
type preset struct {
	name, from string
	needs      []string
	mapping    Mapping
}

var presets = []preset{
	{"azure-llm-2023", "Azure LLM inference traces of 2023, code and conv (Azure/AzurePublicDataset)",
		[]string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"},
		known("at=TIMESTAMP,cost=ContextTokens+GeneratedTokens")},
	{"mooncake", "Mooncake FAST'25 traces; times are rounded to 3 s, add spread=3s to spread them (kvcache-ai/Mooncake)",
		[]string{"timestamp", "input_length", "output_length"},
		known("at=timestamp:ms,cost=input_length+output_length")},
	{"llm-tenants", "runs of fair and unfair LLM schedulers, of which VTC's requests are taken, output tokens costing double (Ying1123/VTC-artifact)",
		[]string{"scheduler", "client", "arrival_s", "input_tokens", "output_tokens"},
		known("at=arrival_s:s,tenant=client,cost=input_tokens+2*output_tokens,only=scheduler:VTC")},
	{"nasa-http", "logs of NASA Kennedy Space Center's web server, 1995 (Internet Traffic Archive)",
		[]string{"host", "time", "method", "url", "response", "bytes"},
		known("at=time:s,tenant=host,key=url,bytes=bytes")},
	{"azure-functions-2021", "Azure Functions invocations of 2021; start = end - duration (Azure/AzurePublicDataset)",
		[]string{"app", "func", "end_timestamp", "duration"},
		known("at=end_timestamp-duration:s,tenant=app,service=duration:s")},
	{"worldcup98", "requests a minute to the World Cup site of 1998, drawn within each minute (Internet Traffic Archive)",
		[]string{"minute_local", "requests"},
		known("at=minute_local,count=requests,per=1m")},
}

// Preset is a public trace whose header is known.
type Preset struct {
	Name    string // ParseMapping takes it
	From    string // what it is and where it is had
	Mapping Mapping
}

// Presets returns the public traces whose header is known.
func Presets() []Preset {
	var all []Preset
	for _, p := range presets {
		all = append(all, Preset{p.name, p.from, p.mapping})
	}
	return all
}

func known(pairs string) Mapping {
	m, err := parsePairs(pairs)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return m
}

// recognise returns the preset of a header.
func recognise(columns []string) (preset, bool) {
	for _, p := range presets {
		if !slices.ContainsFunc(p.needs, func(c string) bool { return !slices.Contains(columns, c) }) {
			return p, true
		}
	}
	return preset{}, false
}
