package tokens_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/provider/tokens"
)

func exact(t interface{ Fatal(...any) }, name tokenizer.Encoding, text string) int64 {
	c, err := tokenizer.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.Count(text)
	if err != nil {
		t.Fatal(err)
	}
	return int64(n)
}

// inside is a text as it stands between the quotes of a JSON string.
func inside(text string) []byte {
	b, _ := json.Marshal(text)
	return b[1 : len(b)-1]
}

// What is cut and what is remembered changes no count.
func TestCountsAreTheVocabularysOwn(t *testing.T) {
	for _, v := range []struct {
		model string
		name  tokenizer.Encoding
	}{{"gpt-4o", tokenizer.O200kBase}, {"gpt-4", tokenizer.Cl100kBase}} {
		encoding := tokens.For(v.model)
		rapid.Check(t, func(t *rapid.T) {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
				"the", " ", "  ", "\n", "\r\n", " word", "Don't", "1234567", " 42", ".", "...", "/", "\t", "漢字かな", " é", " ", "\"", "\\", "\x01", "😀", "<b>", "{\"a\":",
			}), 0, 40).Draw(t, "text"), "")
			for range 2 { // from the vocabulary, then from the table
				c := encoding.Count()
				c.JSON(inside(text))
				if got, want := c.Total(), exact(t, v.name, text); got != want || c.Guessed() {
					t.Fatalf("%q: %d, want %d", text, got, want)
				}
				c = encoding.Count()
				c.Text(text)
				if got, want := c.Total(), exact(t, v.name, text); got != want {
					t.Fatalf("%q as text: %d, want %d", text, got, want)
				}
			}
		})
	}
}

func TestWhichVocabulary(t *testing.T) {
	older, newer, unknown := tokens.For("gpt-4"), tokens.For("gpt-4o"), tokens.For("nobody's")
	for model, want := range map[string]tokens.Encoding{
		"gpt-4-turbo-2024-04-09": older, "gpt-3.5-turbo": older, "text-embedding-3-large": older, "gpt-35-turbo": older,
		"gpt-4o-mini": newer, "gpt-4.1": newer, "gpt-5-nano-2025-08-07": newer, "o3": newer, "openai/gpt-5": newer, "GPT-4O": newer, "ft:gpt-4o-mini:acme::x": newer,
		"gpt-oss-120b": unknown, "llama-3.3-70b": unknown, "": unknown, "qwen3-max": unknown,
	} {
		if got := tokens.For(model); got != want {
			t.Errorf("%q: %+v, want %+v", model, got, want)
		}
	}
}

// A long text is looked at here and there. What is wrong by then is small where it is
// prose, and small enough where it changes its nature in the middle.
func TestLongTextsAreEstimated(t *testing.T) {
	prose := must(os.ReadFile("../../docs/calls.md")) + must(os.ReadFile("../../docs/gateway.md")) + must(os.ReadFile("../../docs/trust.md"))
	code := must(os.ReadFile("../../gateway/exchange.go")) + must(os.ReadFile("../../gateway/calls.go"))
	long := func(s string) string { return strings.Repeat(s, 1+(300<<10)/len(s)) }
	for _, c := range []struct {
		name, text string
		low, high  float64
	}{
		{"prose", long(prose), 1, 1.25},
		{"code", long(code), 1, 1.25},
		{"prose, then another script", prose + long("漢字假名混合文書の例です。"), 0.8, 1.6},
		{"spaces, then words", strings.Repeat(" ", 100<<10) + long(prose), 0.9, 1.6},
		{"one word that never ends", strings.Repeat("x7Q", 100<<10), 0.9, 1.2},
	} {
		t.Run(c.name, func(t *testing.T) {
			counter := tokens.For("gpt-4o").Count()
			counter.JSON(inside(c.text))
			want := float64(exact(t, tokenizer.O200kBase, c.text))
			got := float64(counter.Total()) / want
			t.Logf("%.3f of %.0f tokens in %d bytes", got, want, len(c.text))
			if got < c.low || got > c.high || !counter.Guessed() {
				t.Errorf("%.3f of what it is, want %v to %v", got, c.low, c.high)
			}
		})
	}
}

func must(b []byte, err error) string {
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Recorded answers of ten services, counted with OpenAI's vocabulary, against what
// each reported: what the margin for models whose vocabulary nobody publishes is for.
func TestMarginAgainstRecordedAnswers(t *testing.T) {
	folder := filepath.Join(os.Getenv("SPILLWAY_DATA"), "llm-streams")
	if _, err := os.Stat(folder); os.Getenv("SPILLWAY_DATA") == "" || err != nil {
		t.Skip("no recorded answers: set SPILLWAY_DATA")
	}
	for _, name := range []string{"openai-text", "openai-completion-text", "groq-text", "groq-reasoning", "deepseek-text", "deepseek-reasoning", "alibaba-text", "alibaba-reasoning", "mistral-text"} {
		raw := must(os.ReadFile(filepath.Join(folder, name+".jsonl")))
		text, model, reported := "", "", int64(0)
		for line := range strings.Lines(raw) {
			var chunk struct {
				Model   string
				Choices []struct {
					Text  string
					Delta struct {
						Content, Reasoning string
						ReasoningContent   string `json:"reasoning_content"`
					}
				}
				Usage struct {
					Completion int64 `json:"completion_tokens"`
				}
			}
			json.Unmarshal([]byte(line), &chunk)
			for _, c := range chunk.Choices {
				text += c.Text + c.Delta.Content + c.Delta.Reasoning + c.Delta.ReasoningContent
			}
			model, reported = chunk.Model, max(reported, chunk.Usage.Completion)
		}
		c := tokens.For(model).Count()
		c.Text(text)
		got := float64(c.Total()) / float64(reported)
		t.Logf("%-24s %-32s reported %4d, counted %4d: %.2f", name, model, reported, c.Total(), got)
		if reported > 50 && (got < 0.9 || got > 1.35) {
			t.Errorf("%s: counted %.2f of what was reported", name, got)
		}
	}
}

func BenchmarkCount(b *testing.B) {
	prose := inside(must(os.ReadFile("../../docs/calls.md")))
	for _, c := range []struct {
		name string
		text []byte
	}{{"prose", prose}, {"unheard", inside(strings.Repeat("zqxjkv7Qpl ", 1))}, {"long", inside(strings.Repeat(string(prose), 40))}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				counter := tokens.For("gpt-4o").Count()
				counter.JSON(c.text)
			}
		})
	}
}
