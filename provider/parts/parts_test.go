package parts_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/provider/parts"
	"github.com/spillway-dev/spillway/provider/tokens"
)

// area is a rule to be seen: one token for each pixel, 7777 where the size is unknown.
var area = parts.Rules{Image: func(w, h int, detail string) int64 {
	switch {
	case detail == "low":
		return 85
	case w == 0:
		return 7777
	}
	return int64(w * h)
}}

func price(value string) (*parts.Walker, int64) {
	w := &parts.Walker{Text: tokens.For("gpt-4o").Count(), Rules: area}
	w.Value([]byte(value))
	return w, w.Total()
}

func picture(kind string, width, height int) string {
	img := image.NewGray(image.Rect(0, 0, width, height))
	var b bytes.Buffer
	switch kind {
	case "png":
		png.Encode(&b, img)
	case "jpeg":
		jpeg.Encode(&b, img, nil)
	case "gif":
		gif.Encode(&b, img, nil)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func webp(kind string, width, height int) string {
	b := make([]byte, 40)
	copy(b, "RIFF....WEBP"+kind)
	switch kind {
	case "VP8X":
		b[24], b[25], b[27], b[28] = byte(width-1), byte((width-1)>>8), byte(height-1), byte((height-1)>>8)
	case "VP8L":
		n := uint32(width-1) | uint32(height-1)<<14
		b[21], b[22], b[23], b[24] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
	case "VP8 ":
		b[26], b[27], b[28], b[29] = byte(width), byte(width>>8), byte(height), byte(height>>8)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// Blocks of both languages, and of none, and the least and the most that each may cost.
func TestWhatBlocksCost(t *testing.T) {
	noise := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	large := base64.StdEncoding.EncodeToString(noise)
	for _, c := range []struct {
		name, block string
		least, most int64
		guessed     bool
	}{
		{"text", `{"type":"text","text":"the quick brown fox"}`, 4, 4, false},
		{"a string", `"the quick brown fox"`, 4, 4, false},
		{"a picture by its size", `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + picture("png", 640, 480) + `"}}`, 640 * 480, 640 * 480, true},
		{"jpeg", `{"type":"input_image","image_url":"data:image/jpeg;base64,` + picture("jpeg", 64, 48) + `"}`, 64 * 48, 64 * 48, true},
		{"gif", `{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"` + picture("gif", 32, 16) + `"}}`, 32 * 16, 32 * 16, true},
		{"webp", `{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"` + webp("VP8X", 1920, 1080) + `"}}`, 1920 * 1080, 1920 * 1080, true},
		{"webp without loss", `{"type":"image","source":{"data":"` + webp("VP8L", 1920, 1080) + `"}}`, 1920 * 1080, 1920 * 1080, true},
		{"webp with loss", `{"type":"image","source":{"data":"` + webp("VP8 ", 1920, 1080) + `"}}`, 1920 * 1080, 1920 * 1080, true},
		{"a picture at low detail", `{"type":"image_url","image_url":{"url":"https://x/y.png","detail":"low"}}`, 85, 85, true},
		{"a picture elsewhere", `{"type":"image_url","image_url":{"url":"https://x/y.png"}}`, 7777, 7777, true},
		{"a picture by name", `{"type":"image","source":{"type":"file","file_id":"file_1"}}`, 7777, 7777, true},
		{"a picture that is none", `{"type":"image","source":{"data":"AAAA"}}`, 7777, 7777, true},
		{"a megabyte that is called a picture", `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + large + `"}}`, 7777, 7777, true},
		{"a sound", `{"type":"input_audio","input_audio":{"data":"` + large[:40000] + `","format":"mp3"}}`, 75, 110, true},
		{"a sound elsewhere", `{"type":"input_audio","input_audio":{"id":"a"}}`, parts.SoundElsewhere, parts.SoundElsewhere, true},
		{"a file elsewhere", `{"type":"input_file","file_id":"file_1"}`, parts.FileElsewhere, parts.FileElsewhere, true},
		{"a document of text", `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"the quick brown fox"},"title":"fox"}`, 5, 5, false},
		{"a document of blocks", `{"type":"document","source":{"type":"content","content":[{"type":"text","text":"the quick brown fox"}]}}`, 4, 4, false},
		{"a pdf of three pages", `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` +
			base64.StdEncoding.EncodeToString([]byte("%PDF-1.7 /Type /Pages "+strings.Repeat("<< /Type /Page >>", 3))) + `"}}`, 9000, 9000, true},
		{"a packed pdf", `{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,` + large + `"}}`, 50_000, 55_000, true},
		{"the result of a tool, with a picture in it", `{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a"},{"type":"image","source":{"data":"` + picture("png", 100, 100) + `"}}]}`, 10_001, 10_020, true},
		{"a call of a tool", `{"type":"tool_use","id":"t1","name":"weather","input":{"city":"Berlin"}}`, 4, 15, false},
		{"what nobody knows", `{"type":"hologram","rays":{"n":[1,2,3],"of":"light"}}`, 5, 20, false},
		{"data that nobody knows", `{"type":"hologram","bytes":"` + large + `"}`, 50_000, 55_000, true},
		{"base64 as text is text", `{"type":"text","text":"` + large[:40000] + `"}`, 25_000, 40_000, true},
		{"nested without end", strings.Repeat(`[`, 500) + `"x"` + strings.Repeat(`]`, 500), 1, 1000, false},
		{"nothing", `null`, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !json.Valid([]byte(c.block)) {
				t.Fatal("the test's own block is not valid")
			}
			w, got := price(c.block)
			if got < c.least || got > c.most || w.Known() == c.guessed {
				t.Errorf("%d tokens, known %v; want %d to %d, %v", got, w.Known(), c.least, c.most, !c.guessed)
			}
		})
	}
}

// Whatever a request holds, it costs something and its price ends.
func FuzzWalk(f *testing.F) {
	for _, kind := range []string{"text", "image_url", "input_audio", "document", "file", "x"} {
		f.Add(fmt.Sprintf(`{"type":%q,"source":{"data":"data:image/png;base64,iVBO"},"text":"a"}`, kind))
	}
	f.Fuzz(func(t *testing.T, doc string) {
		if _, n := price(doc); n < 0 {
			t.Fatalf("%d tokens", n)
		}
		text, _ := json.Marshal(doc)
		if _, n := price(`{"type":"text","text":` + string(text) + `}`); (n > 0) != (doc != "") {
			t.Fatalf("%q as text: %d tokens", doc, n)
		}
	})
}
