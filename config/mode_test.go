package config

import "testing"

func TestParseMode(t *testing.T) {
	for text, want := range map[string]Mode{
		"off": {Kind: ModeOff}, "shadow": {Kind: ModeShadow}, "enforce": {Kind: ModeEnforce},
		"10%": {ModePercent, 10}, "0%": {ModePercent, 0}, "0.5%": {ModePercent, 0.5},
	} {
		if m, err := ParseMode(text); err != nil || m != want {
			t.Errorf("%s is read as %+v (%v)", text, m, err)
		}
	}
	for _, text := range []string{"", "on", "10", "101%", "-1%", "half"} {
		if m, err := ParseMode(text); err == nil {
			t.Errorf("%q is read as %+v", text, m)
		}
	}
}

func TestWithModeChangesEveryClassAndNotTheOriginal(t *testing.T) {
	c, err := ForUpstream("http://h", 4)
	if err != nil {
		t.Fatal(err)
	}
	shadow := c.WithMode(Mode{Kind: ModeShadow})
	if shadow.Classes[0].Mode.Kind != ModeShadow || c.Classes[0].Mode.Kind != "" {
		t.Errorf("the copy is in %+v, the original in %+v", shadow.Classes[0].Mode, c.Classes[0].Mode)
	}
	if err := shadow.Validate(); err != nil {
		t.Error(err)
	}
}
