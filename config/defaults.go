package config

import (
	"cmp"
	"reflect"
)

// The defaults of the format, each with what it rests on. They are repeated in the
// default tags, which the reference page prints; a test holds the two together.
const (
	defaultListen = ":8080"
	defaultAdmin  = "127.0.0.1:9900" // loopback: it has no login

	// defaultSlots is where the Netflix family of adaptive limits starts, and ours. Where
	// nothing is said it is a fixed number: safe, and too low for a large service.
	defaultSlots    = 20
	defaultSlotsMax = 1000

	defaultDeadline    = Duration(30e9)  // what proxies and clients commonly give up after
	defaultMaxDeadline = Duration(300e9) // a longer one holds a slot for minutes

	defaultMemory     = Bytes(64 << 20)
	defaultPerRequest = Bytes(64 << 10) // headers and the body's first read

	defaultAbandoned  = Duration(30e9)
	defaultSpan       = Duration(30e9)
	defaultDropStatus = 503
)

// Default is the configuration of an empty file with everything filled in. It has no
// upstream and no class; [ForUpstream] has.
func Default() *Config { return new(Config).WithDefaults() }

// WithDefaults is a deep copy in which every field that was not written holds its
// default. What stays zero has a meaning: Budget.Service and Tenant.Cost are measured,
// Call.Timeout is what is left of the deadline, a zero Tenant.Key, Session.Key or
// Importance.Key means there is none, Tenant.Queue is only bounded by the class,
// Upstream.Slots and Expect are unknown. Filling twice changes nothing.
func (c *Config) WithDefaults() *Config {
	out := clone(reflect.ValueOf(*c)).Interface().(Config)
	out.Version = cmp.Or(out.Version, 1)
	out.Seed = cmp.Or(out.Seed, 1)
	out.Record.fill()
	out.TLS.fill()
	out.Admin.TLS.fill()
	if len(out.Listen) == 0 {
		out.Listen = Listen(defaultListen)
	}
	for i := range out.Listen {
		out.Listen[i].TLS.fill()
		if out.Listen[i].TLS == (TLS{}) {
			out.Listen[i].TLS = out.TLS
		}
	}
	if out.Admin.Address.IsZero() {
		out.Admin.Address = Literal(defaultAdmin)
	}
	out.Admin.OpenHealth = cmp.Or(out.Admin.OpenHealth, On)
	out.Admin.Insecure = cmp.Or(out.Admin.Insecure, Off)
	out.Limits.fill()
	out.CORS.fill()
	out.Trust.fill()
	out.Clients.fill()
	out.Reload.fill()
	out.Ready.fill()
	out.Pressure.fill()
	out.Scale.fill()
	out.Explain.fill()
	out.Ledger.fill()
	out.Jobs.fill(out.persists())
	for i := range out.Quotas {
		out.Quotas[i].fill()
	}
	out.Log.Format = cmp.Or(out.Log.Format, LogText)
	out.Log.Level = cmp.Or(out.Log.Level, "info")
	for i := range out.Upstreams {
		u := &out.Upstreams[i]
		if u.URL.IsZero() && len(u.URLs) == 1 {
			u.URL, u.URLs = u.URLs[0].URL, nil // a weight beside none says nothing
		}
		u.fill()
	}
	for i := range out.Classes {
		k := &out.Classes[i]
		k.fill()
		if k.Upstream == "" && len(out.Upstreams) == 1 {
			k.Upstream = out.Upstreams[0].Name
		}
	}
	return &out
}

func (k *Class) fill() {
	k.Gap.fill()
	if k.Slots == (Slots{}) {
		k.Slots.Fixed = defaultSlots
	}
	if s := &k.Slots; s.Adaptive() {
		s.Min = cmp.Or(s.Min, 1)
		s.Max = cmp.Or(s.Max, max(defaultSlotsMax, s.Min))
		s.Start = min(max(cmp.Or(s.Start, defaultSlots), s.Min), s.Max)
	}
	// A default never contradicts what is written: the written one moves it.
	switch {
	case k.Deadline == 0 && k.MaxDeadline == 0:
		k.Deadline, k.MaxDeadline = defaultDeadline, defaultMaxDeadline
	case k.Deadline == 0:
		k.Deadline = min(defaultDeadline, k.MaxDeadline)
	case k.MaxDeadline == 0:
		k.MaxDeadline = max(defaultMaxDeadline, k.Deadline)
	}
	k.Budget.Latency = cmp.Or(k.Budget.Latency, k.Deadline)
	switch {
	case k.Memory == (Memory{}):
		k.Memory = Memory{Limit: defaultMemory, PerRequest: defaultPerRequest}
	case k.Memory.Limit == 0:
		k.Memory.Limit = max(defaultMemory, k.Memory.PerRequest)
	case k.Memory.PerRequest == 0:
		k.Memory.PerRequest = min(defaultPerRequest, k.Memory.Limit)
	}
	k.Order = cmp.Or(k.Order, OrderAdaptive)
	k.WhenFull.Policy = cmp.Or(k.WhenFull.Policy, FullReject)
	if k.WhenFull.Policy == FullDrop {
		k.WhenFull.Drop = cmp.Or(k.WhenFull.Drop, defaultDropStatus)
	}
	k.Feasible = cmp.Or(k.Feasible, On)
	k.Abandoned.HoldAtMost = cmp.Or(k.Abandoned.HoldAtMost, defaultAbandoned)
	k.Abandoned.Cancel = cmp.Or(k.Abandoned.Cancel, Off)
	if !k.Tenant.Key.IsZero() {
		k.Tenant.Policy = cmp.Or(k.Tenant.Policy, FairDRR)
	}
	if !k.Session.Key.IsZero() {
		k.Session.Span = cmp.Or(k.Session.Span, defaultSpan)
	}
	k.Shed.fill(len(k.Ladder) > 0)
	k.Call.fill(k.Deadline)
	for i := range k.Ladder {
		k.Ladder[i].fill(k.Deadline)
	}
	k.Keys, k.Repeat = cmp.Or(k.Keys, Off), cmp.Or(k.Repeat, Off)
	k.Operator.fill()
	k.Clients.Exempt = cmp.Or(k.Clients.Exempt, Off)
	if k.Mode == (Mode{}) {
		k.Mode.Kind = ModeEnforce
	}
}

// clone copies a value and every list and mapping below it, so that a copy can be
// changed without touching the file it came from.
func clone(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(clone(v.Field(i)))
			}
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(clone(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for it := v.MapRange(); it.Next(); {
				out.SetMapIndex(it.Key(), it.Value())
			}
		}
	}
	return out
}
