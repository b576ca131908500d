package openai

import "strings"

// What OpenAI's guide to vision says of the price of pictures. There are two laws:
// squares of 512 pixels, at a price for each and one for the picture; and patches of 32
// pixels, at most 1,536 of them, times a factor of the model.
type squares struct{ base, each int64 }

// imageRule returns how a model prices pictures. A model that is not known is priced by
// the dearer of both laws.
func imageRule(model string) func(width, height int, detail string) int64 {
	if i := strings.LastIndexByte(model, '/'); i >= 0 {
		model = model[i+1:]
	}
	has := func(prefix string) bool { return strings.HasPrefix(model, prefix) }
	switch {
	case has("gpt-4o-mini"):
		return squares{2833, 5667}.price
	case has("gpt-4.1-nano"), has("gpt-5-nano"):
		return patches(246)
	case has("o4-mini"):
		return patches(172)
	case has("gpt-4.1-mini"), has("gpt-5-mini"):
		return patches(162)
	case has("gpt-4o"), has("gpt-4.1"), has("gpt-4-"), has("gpt-4.5"), has("chatgpt-4o"):
		return squares{85, 170}.price
	case has("o1"), has("o3"):
		return squares{75, 150}.price
	}
	a, b := squares{85, 170}.price, patches(246)
	return func(width, height int, detail string) int64 {
		return max(a(width, height, detail), b(width, height, detail))
	}
}

// price goes by the picture as it is scaled: into 2,048 pixels, then to 768 on its
// shorter side.
func (s squares) price(width, height int, detail string) int64 {
	if detail == "low" {
		return s.base
	}
	if width <= 0 || height <= 0 {
		return s.base + 8*s.each // 768 by 2,048, the most there can be
	}
	w, h := float64(width), float64(height)
	if long := max(w, h); long > 2048 {
		w, h = w*2048/long, h*2048/long
	}
	if short := min(w, h); short > 768 {
		w, h = w*768/short, h*768/short
	}
	return s.base + s.each*cells(w, 512)*cells(h, 512)
}

// patchesMost is the most patches that a picture is cut into.
const patchesMost = 1536

// patches prices by patches at a factor in hundredths.
func patches(factor int64) func(width, height int, detail string) int64 {
	return func(width, height int, _ string) int64 {
		n := int64(patchesMost)
		if width > 0 && height > 0 {
			n = min(cells(float64(width), 32)*cells(float64(height), 32), n)
		}
		return (n*factor + 99) / 100
	}
}

// cells is how many cells of a length a side takes.
func cells(side, cell float64) int64 {
	n := int64(side / cell)
	if float64(n)*cell < side-1e-6 {
		n++
	}
	return max(n, 1)
}
