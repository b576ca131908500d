package config

import (
	"strings"
	"testing"
)

const pressedFile = "version: 1\npressure: %\nupstreams: { app: { url: \"http://a:1\" } }\nclasses: { web: { match: { path: \"/*\" }, upstream: app } }\n"

func TestWhatPressureMayBe(t *testing.T) {
	off := PressureShare{Off: true}
	for text, want := range map[string]Pressure{
		"{}": {CPU: off, Memory: PressureShare{Share: 95}, CPUStall: off, MemoryStall: off, Scheduler: PressureTime{Off: true}},
		"{ cpu: 80%, memory: off, cpu_stall: 0.5%, memory_stall: 10%, scheduler: 10ms }": {
			CPU: PressureShare{Share: 80}, Memory: off, CPUStall: PressureShare{Share: 0.5}, MemoryStall: PressureShare{Share: 10}, Scheduler: PressureTime{For: Duration(10e6)}},
	} {
		c, err := Parse("test.yaml", []byte(strings.Replace(pressedFile, "%", text, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.WithDefaults().Pressure; got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestPressureThatMeansNothing(t *testing.T) {
	for text, want := range map[string]string{
		"{ cpu: 0% }":           `test.yaml:2:18: pressure.cpu is 0%; give at least 1%`,
		"{ memory: 101% }":      `"101%" is not a share; give 0% to 100%`,
		"{ memory: 0.9 }":       `0.9 has no percent sign`,
		"{ memory_stall: on }":  `is not a percentage`,
		"{ scheduler: 1h }":     `pressure.scheduler is 1h; give 100us to 10s`,
		"{ scheduler: never }":  `never`,
		"{ schedular: 10ms }":   `did you mean "scheduler"`,
		"{ cpu_stall: 0.05% }":  `give at least 0.1%`,
		"{ scheduler: 0s }":     `give 100us to 10s`,
		"{ cpu: { max: 90% } }": `pressure.cpu`,
	} {
		_, err := Parse("test.yaml", []byte(strings.Replace(pressedFile, "%", text, 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
