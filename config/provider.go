package config

import (
	"cmp"
	"strings"

	"github.com/spillway-dev/spillway/expr"
)

// Provider is the language that an upstream speaks, which says what a call costs, and
// whose key it is called with.
type Provider struct {
	Kind   ProviderKind             `yaml:"kind" required:"true" doc:"openai: OpenAI's, and of the many services that speak it. anthropic: Anthropic's messages. generic: any other; costs says what a call costs."`
	Key    Text                     `yaml:"key" doc:"The provider's own key, as in ${OPENAI_API_KEY} or file:/run/secrets/openai. It takes the place of whatever key a caller sent, and is shown nowhere. Default: none is sent; a caller's never is."`
	Output int                      `yaml:"output" default:"4096" min:"1" max:"100000000" doc:"Tokens of output that a call is held for which names no ceiling, and the most that one is held for which does."`
	Body   Bytes                    `yaml:"body" default:"32MiB" min:"1KiB" max:"1GiB" doc:"The largest body of a request; it is read before the request may wait, because it says what the call costs."`
	Bodies Bytes                    `yaml:"bodies" default:"256MiB" min:"1KiB" doc:"What bodies of requests may take in memory in all; a request beyond it is refused (queue_bytes)."`
	Models map[string]ProviderModel `yaml:"models" items:"1000" doc:"What is known of models, by name; a final * stands for any rest. Of several that fit the longest counts."`
	Costs  ProviderCosts            `yaml:"costs" doc:"With generic: what a call costs, each a CEL expression over the request that gives a number; see docs/gap.md for what it may say."`
}

// ProviderKind is a language.
type ProviderKind string

// The languages.
const (
	ProviderOpenAI    ProviderKind = "openai"
	ProviderAnthropic ProviderKind = "anthropic"
	ProviderGeneric   ProviderKind = "generic"
)

func (ProviderKind) values() []string { return []string{"openai", "anthropic", "generic"} }

// ProviderModel is what is known of a model.
type ProviderModel struct {
	Output      int     `yaml:"output" min:"1" max:"100000000" doc:"The most tokens that it gives."`
	InputPrice  float64 `yaml:"input_price" min:"0" max:"1000000" doc:"What a million tokens of input cost, in whole units of the currency."`
	OutputPrice float64 `yaml:"output_price" min:"0" max:"1000000" doc:"What a million tokens of output cost."`
	Margin      Percent `yaml:"margin" doc:"What is added to the tokens that were counted for it, where its vocabulary is not the one they are counted with. Default: 20% for models that are not OpenAI's, 40% with anthropic."`
}

// ProviderCosts are expressions.
type ProviderCosts struct {
	Input  string `yaml:"input" doc:"Tokens of input."`
	Output string `yaml:"output" doc:"Tokens of output."`
	Money  string `yaml:"money" doc:"Money, in whole units of the currency."`
}

// IsZero reports whether the upstream is no provider.
func (p Provider) IsZero() bool {
	return p.Kind == "" && p.Key.IsZero() && p.Output == 0 && p.Body == 0 && p.Bodies == 0 && p.Models == nil && p.Costs == ProviderCosts{}
}

func (p *Provider) fill() {
	if p.IsZero() {
		return
	}
	p.Output = cmp.Or(p.Output, 4096)
	p.Body = cmp.Or(p.Body, 32<<20)
	p.Bodies = cmp.Or(p.Bodies, 256<<20)
}

// provider checks what the ranges do not.
func (k *checker) provider(p Provider, at string) {
	if p.IsZero() {
		return
	}
	d := p
	d.fill()
	if d.Body > d.Bodies {
		k.report(join(at, "body"), "lower it, or raise bodies", "is %s, above bodies %s", d.Body, d.Bodies)
	}
	if key := p.Key.Value(); strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		k.report(join(at, "key"), "give it without spaces and line ends", "cannot be sent in a header")
	}
	for name := range p.Models { // order does not matter: problems are sorted by their place
		if name == "" || len(name) > quotaName || strings.Contains(strings.TrimSuffix(name, "*"), "*") {
			k.report(join(join(at, "models"), name), "write a model's name of up to 128 characters, with at most one *, at its end", "is %s", quote(name))
		}
	}
	for _, c := range []struct{ key, text string }{{"input", p.Costs.Input}, {"output", p.Costs.Output}, {"money", p.Costs.Money}} {
		if c.text == "" {
			continue
		}
		here := join(join(at, "costs"), c.key)
		if p.Kind != ProviderGeneric {
			k.report(here, "remove it, or use kind: generic", "means nothing with %s, whose requests say what they cost", p.Kind)
			continue
		}
		k.expression(expr.Gap, c.text, here)
	}
}
