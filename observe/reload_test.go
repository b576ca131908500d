package observe

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// A refused reload leaves the time and the digest of what is in force, and shows
// that the file is not it.
func TestWhatReloadsCameToIsShown(t *testing.T) {
	m := New(Options{})
	m.Reloads.Begin(time.Unix(100, 0), "aaaaaaaaaaaa")
	m.Reloads.Note(time.Unix(200, 0), ReloadApplied, "bbbbbbbbbbbb")
	m.Reloads.Note(time.Unix(300, 0), ReloadRefused, "bbbbbbbbbbbb")
	show := func(good, at string) string {
		return `# HELP spillway_config_info ` + configDigest.Help + `
# TYPE spillway_config_info gauge
spillway_config_info{digest="bbbbbbbbbbbb"} 1
# HELP spillway_config_last_reload_success_timestamp_seconds ` + reloadTime.Help + `
# TYPE spillway_config_last_reload_success_timestamp_seconds gauge
spillway_config_last_reload_success_timestamp_seconds ` + at + `
# HELP spillway_config_last_reload_successful ` + reloadGood.Help + `
# TYPE spillway_config_last_reload_successful gauge
spillway_config_last_reload_successful ` + good + `
`
	}
	names := []string{"spillway_config_info", "spillway_config_last_reload_success_timestamp_seconds", "spillway_config_last_reload_successful"}
	if err := testutil.GatherAndCompare(m.registry, strings.NewReader(show("0", "200")), names...); err != nil {
		t.Error(err)
	}
	m.Reloads.Note(time.Unix(400, 0), ReloadUnchanged, "bbbbbbbbbbbb")
	if err := testutil.GatherAndCompare(m.registry, strings.NewReader(show("1", "400")), names...); err != nil {
		t.Error(err)
	}
	const want = `# HELP spillway_config_reloads_total Attempts to change the configuration: applied, unchanged (it says what is in force already) or refused (what was in force stays).
# TYPE spillway_config_reloads_total counter
spillway_config_reloads_total{result="applied"} 1
spillway_config_reloads_total{result="refused"} 1
spillway_config_reloads_total{result="unchanged"} 1
`
	if err := testutil.GatherAndCompare(m.registry, strings.NewReader(want), "spillway_config_reloads_total"); err != nil {
		t.Error(err)
	}
}
