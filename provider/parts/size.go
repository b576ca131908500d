package parts

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	_ "image/gif"  // reads the size of a GIF
	_ "image/jpeg" // of a JPEG
	_ "image/png"  // of a PNG
)

// headMost is how much of a picture is looked at for its size, in bytes of base64: a
// JPEG may carry a preview in front of it.
const headMost = 256 << 10

// decoded returns the bytes of a piece of base64, in either alphabet.
func decoded(data []byte) []byte {
	data = bytes.TrimRight(data, "=")
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(data, "-_") {
		encoding = base64.RawURLEncoding
	}
	out := make([]byte, encoding.DecodedLen(len(data)))
	n, _ := encoding.Decode(out, data[:len(data)/4*4])
	return out[:n]
}

// imageSize returns the size of a picture in base64 in pixels, 0 by 0 where its first
// bytes do not tell.
func imageSize(data []byte) (width, height int) {
	head := decoded(data[:min(len(data), headMost)])
	if c, _, err := image.DecodeConfig(bytes.NewReader(head)); err == nil && c.Width > 0 && c.Height > 0 {
		return c.Width, c.Height
	}
	return webpSize(head)
}

// webpSize reads the header of a WebP (RFC 9649), which the library does not know.
func webpSize(b []byte) (width, height int) {
	if len(b) < 30 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" {
		return 0, 0
	}
	u24 := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
	switch string(b[12:16]) {
	case "VP8X":
		return u24(b[24:]) + 1, u24(b[27:]) + 1
	case "VP8L":
		bits := binary.LittleEndian.Uint32(b[21:])
		return int(bits&0x3FFF) + 1, int(bits>>14&0x3FFF) + 1
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(b[26:]) & 0x3FFF), int(binary.LittleEndian.Uint16(b[28:]) & 0x3FFF)
	}
	return 0, 0
}

// pdfMost is how much of a PDF is looked through for pages.
const pdfMost = 8 << 20

// pages counts the pages of a PDF that can be seen without making anything of it: in
// newer ones most are packed away, and its length speaks for them.
func pages(data []byte) int64 {
	b := decoded(data[:min(len(data), pdfMost)])
	n := bytes.Count(b, []byte("/Type /Page")) - bytes.Count(b, []byte("/Type /Pages")) +
		bytes.Count(b, []byte("/Type/Page")) - bytes.Count(b, []byte("/Type/Pages"))
	return int64(max(n, 0))
}
