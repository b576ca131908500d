package steer

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ExternalPath is where Kubernetes asks for external metrics.
const ExternalPath = "/apis/external.metrics.k8s.io/v1beta1"

// The metrics that there are, and what they are.
var externalMetrics = map[string]func(Told) float64{
	"spillway_desired_slots": func(t Told) float64 { return t.Desired },
	"spillway_demand_slots":  func(t Told) float64 { return t.Demand },
	"spillway_desired_ratio": func(t Told) float64 { return t.Ratio },
}

type externalList struct {
	Kind       string          `json:"kind"`
	APIVersion string          `json:"apiVersion"`
	Metadata   struct{}        `json:"metadata"`
	Items      []externalValue `json:"items"`
}

type externalValue struct {
	Metric    string            `json:"metricName"`
	Labels    map[string]string `json:"metricLabels"`
	Timestamp string            `json:"timestamp"`
	Value     string            `json:"value"` // a quantity: in thousandths
}

type resourceList struct {
	Kind         string         `json:"kind"`
	APIVersion   string         `json:"apiVersion"`
	GroupVersion string         `json:"groupVersion"`
	Resources    []resourceType `json:"resources"`
}

type resourceType struct {
	Name         string   `json:"name"`
	SingularName string   `json:"singularName"`
	Namespaced   bool     `json:"namespaced"`
	Kind         string   `json:"kind"`
	Verbs        []string `json:"verbs"`
}

// External is Kubernetes' external metrics API (external.metrics.k8s.io/v1beta1), as a
// metrics adapter or an APIService asks it: discovery at its root, values below
// namespaces/NS/METRIC, of one resource with ?labelSelector=resource=NAME.
func (b *Board) External(mux *http.ServeMux) {
	mux.HandleFunc("GET "+ExternalPath, b.discover)
	mux.HandleFunc("GET "+ExternalPath+"/namespaces/{namespace}/{metric}", b.values)
}

func (b *Board) discover(w http.ResponseWriter, _ *http.Request) {
	l := resourceList{Kind: "APIResourceList", APIVersion: "v1", GroupVersion: "external.metrics.k8s.io/v1beta1"}
	for _, name := range []string{"spillway_demand_slots", "spillway_desired_ratio", "spillway_desired_slots"} {
		l.Resources = append(l.Resources, resourceType{Name: name, Namespaced: true, Kind: "ExternalMetricValueList", Verbs: []string{"get"}})
	}
	write(w, l)
}

func (b *Board) values(w http.ResponseWriter, r *http.Request) {
	of, there := externalMetrics[r.PathValue("metric")]
	if !there {
		http.Error(w, "there are spillway_desired_slots, spillway_demand_slots and spillway_desired_ratio", http.StatusNotFound)
		return
	}
	only, err := selected(r.URL.Query().Get("labelSelector"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	l := externalList{Kind: "ExternalMetricValueList", APIVersion: "external.metrics.k8s.io/v1beta1", Items: []externalValue{}}
	now := time.Now().UTC().Format(time.RFC3339)
	for _, t := range b.Look() {
		if only == "" || only == t.Resource {
			l.Items = append(l.Items, externalValue{
				Metric: r.PathValue("metric"), Labels: map[string]string{"resource": t.Resource},
				Timestamp: now, Value: strconv.FormatInt(int64(of(t)*1000+0.5), 10) + "m",
			})
		}
	}
	write(w, l)
}

// selected returns the resource that a label selector asks for; none: all.
func selected(selector string) (string, error) {
	if selector == "" {
		return "", nil
	}
	key, value, ok := strings.Cut(strings.Replace(selector, "==", "=", 1), "=")
	if !ok || key != "resource" || value == "" || strings.ContainsAny(value, ",!= ") {
		return "", fmt.Errorf("the only selector is resource=NAME")
	}
	return value, nil
}
