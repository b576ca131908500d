package quota

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Looks are half a second apart, a heartbeat a second, dead after two. Each line is
// what a has said by each look, "=" for nothing new and "-" for that nobody looked;
// the last character is the look at which it is taken for dead, counted from 0.
func TestWhoHasDied(t *testing.T) {
	for _, c := range []struct {
		name, says string
		dead       int // -1: never
	}{
		{"it beats", "b=b=b=b=b=b=", -1},
		{"it beats late, now and then", "b===b===b===b", -1},
		{"it says nothing more", "b=b=======", 6},
		{"it never said anything", "=========", 4},
		{"it comes back just in time", "b===b====b", 8},
		{"whoever watches was stopped for a while", "b=---------=b=b=", -1},
		{"and it died meanwhile", "b=---------====", 12},
	} {
		w := Watch{Heartbeat: time.Second, DeadAfter: 2 * time.Second}
		n, dead := int64(0), -1
		for i, what := range c.says {
			if what == '-' {
				continue
			}
			if what == 'b' {
				n++
			}
			if got := w.Look(unit.Instant(time.Duration(i)*time.Second/2), []Beat{{"a", n}}); len(got) > 0 && dead < 0 {
				dead = i
			}
		}
		if dead != c.dead {
			t.Errorf("%s: dead at look %d, want %d", c.name, dead, c.dead)
		}
	}
}

// However looks and beats fall, and whatever whoever watches misses: who beats as often
// as he should is never dead, and who stops is within three heartbeats, of looks
// that are half of one apart.
func TestWatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const beat = time.Second
		w := Watch{Heartbeat: beat, DeadAfter: 2 * beat}
		offset := time.Duration(rapid.Int64Range(0, int64(beat)).Draw(t, "offset"))
		died := time.Duration(rapid.Int64Range(0, int64(20*beat)).Draw(t, "died"))
		at, looking := time.Duration(0), time.Duration(0)
		for at < 40*beat {
			alive := int64(min(at, died)+offset) / int64(beat)
			steady := int64(at+offset) / int64(beat)
			dead := w.Look(unit.Instant(at), []Beat{{"steady", steady}, {"dies", alive}})
			if slices.Contains(dead, "steady") {
				t.Fatalf("%v: the living is dead", at)
			}
			if gone := slices.Contains(dead, "dies"); gone && at < died {
				t.Fatalf("%v: dead before it died at %v", at, died)
			} else if !gone && at >= max(died, looking)+3*beat {
				t.Fatalf("%v: alive although it died at %v", at, died)
			}
			at += beat / 2
			if at < died && rapid.IntRange(0, 9).Draw(t, "stopped") == 0 {
				at += time.Duration(rapid.Int64Range(0, int64(8*beat)).Draw(t, "for"))
				looking = at
			}
		}
	})
}
