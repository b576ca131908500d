package config

import "testing"

func TestOriginsThatAreAllowed(t *testing.T) {
	c := CORS{Origins: Words{"https://shop.example", "https://*.shop.example", "http://localhost:3000", "https://*.p.example:8443"}}
	for origin, want := range map[string]bool{
		"https://shop.example": true, "https://www.shop.example": true, "https://a.b.shop.example": true, "http://localhost:3000": true,
		"https://x.p.example:8443": true, "https://x.p.example": false,
		"http://shop.example": false, "https://evilshop.example": false, "https://shop.example.evil": false, "https://.shop.example": false,
		"https://evil/.shop.example": false, "https://evil:1.shop.example": false, "https://u@x.shop.example": false, "null": false, "": false,
	} {
		if got := c.Allows(origin); got != want {
			t.Errorf("%q: %v", origin, got)
		}
	}
	if any := (&CORS{Origins: Words{"*"}}); !any.Allows("https://anything") {
		t.Error("* is any")
	}
}
