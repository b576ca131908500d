package ap

import (
	"math"
	"testing"

	"github.com/spillway-dev/spillway/workload/dice"
	"gonum.org/v1/gonum/mat"
)

// sample draws customers who buy by a known law of the first two numbers.
func sample(n int) ([]numbers, []bool) {
	d := dice.New(1, "sample")
	rows, buys := make([]numbers, n), make([]bool, n)
	for i := range rows {
		for j := range rows[i] {
			rows[i][j] = d.LogNormal(3, 1)
		}
		z := rows[i].logs()
		buys[i] = d.Bool(logistic(-1 - 1.5*(z[0]-3) + 0.8*(z[1]-3)))
	}
	return rows, buys
}

func allRows(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

func TestTheModelFindsALawThatIsThere(t *testing.T) {
	rows, buys := sample(20_000)
	s := scaleOf(rows)
	f := fitting{table: s.table(rows), buys: buys, rows: allRows(len(rows))}
	w, err := f.fit()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]float64{1: -1.5 * s.deviation[0], 2: 0.8 * s.deviation[1], 3: 0, 4: 0, 5: 0, 6: 0} {
		if math.Abs(w[i]-want) > 0.08 {
			t.Errorf("weight %d is %.3f, want %.3f", i, w[i], want)
		}
	}
	for i := 7; i < terms; i++ {
		if math.Abs(w[i]) > 0.1 {
			t.Errorf("weight %d, of a square or product that says nothing, is %.3f", i, w[i])
		}
	}
	// With a constant among the terms, probabilities add up to the buyers.
	sum, buyers := 0.0, 0.0
	for i := range rows {
		sum += logistic(w.sum(f.table.row(i)))
		if buys[i] {
			buyers++
		}
	}
	if math.Abs(sum-buyers) > 1e-3*buyers {
		t.Errorf("probabilities add up to %.1f, %v buy", sum, buyers)
	}
}

// First and second derivatives against differences.
func TestDerivatives(t *testing.T) {
	rows, buys := sample(300)
	s := scaleOf(rows)
	f := fitting{table: s.table(rows), buys: buys, rows: allRows(len(rows))}
	d := dice.New(2, "at")
	at := make([]float64, terms)
	for i := range at {
		at[i] = 0.3 * d.Norm()
	}
	f.evaluate(at)
	slope := f.slope
	bend := mat.NewSymDense(terms, nil)
	f.bend(bend, at)
	const h = 1e-5
	for i := range at {
		here := at[i]
		at[i] = here + h
		f.evaluate(at)
		up, slopeUp := f.loss, f.slope
		at[i] = here - h
		f.evaluate(at)
		down, slopeDown := f.loss, f.slope
		at[i] = here
		if want := (up - down) / (2 * h); math.Abs(slope[i]-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("slope %d is %v, by differences %v", i, slope[i], want)
		}
		for j := range at {
			if want := (slopeUp[j] - slopeDown[j]) / (2 * h); math.Abs(bend.At(i, j)-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("bend %d, %d is %v, by differences %v", i, j, bend.At(i, j), want)
			}
		}
	}
}

func TestNumbersThatAreAllAlikeSayNothing(t *testing.T) {
	rows, buys := sample(500)
	for i := range rows {
		rows[i][spent] = 5
	}
	models, _, err := trainOn(rows, buys)
	if err != nil {
		t.Fatal(err)
	}
	if w := models[0][1+spent]; math.Abs(w) > 1e-6 {
		t.Errorf("the weight of a number that is always the same is %v", w)
	}
}

func trainOn(rows []numbers, buys []bool) ([]weights, *scale, error) {
	s := scaleOf(rows)
	models, err := train(s.table(rows), buys, allRows(len(rows)), 1, 3, func(int) {})
	return models, &s, err
}

func TestModelsDifferBySeedAlone(t *testing.T) {
	rows, buys := sample(2000)
	a, _, err := trainOn(rows, buys)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := trainOn(rows, buys)
	if err != nil {
		t.Fatal(err)
	}
	for m := range a {
		if a[m] != b[m] {
			t.Errorf("model %d has other weights the second time", m)
		}
	}
	if a[0] == a[1] {
		t.Error("two models of different seeds are the same")
	}
}

// One wholesaler among thousands does not bend the model.
func TestFarIsNoFartherThanFar(t *testing.T) {
	rows, _ := sample(1000)
	s := scaleOf(rows)
	var a, b [terms]float64
	far := rows[0]
	far[spent] = 1e9
	s.terms(a[:], far)
	far[spent] = 1e12
	s.terms(b[:], far)
	if a != b {
		t.Error("a customer who spends a thousand times more than the richest has other terms")
	}
}

func TestLogistic(t *testing.T) {
	for _, x := range []float64{-800, -30, -1, 0, 2, 40, 800} {
		p := logistic(x)
		if !(p >= 0 && p <= 1) || math.Abs(p+logistic(-x)-1) > 1e-15 {
			t.Errorf("logistic(%v) = %v, logistic(%v) = %v", x, p, -x, logistic(-x))
		}
	}
	if got := logistic(math.Log(3)); !near(got, 0.75) {
		t.Errorf("odds of 3 to 1 give %v, want 0.75", got)
	}
}
