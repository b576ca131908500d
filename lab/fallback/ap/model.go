package ap

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/spillway-dev/spillway/workload/dice"
	"github.com/spillway-dev/spillway/workload/dice/portable"
)

// terms are a constant, the six logarithms, their squares and products.
const terms = 1 + 6 + 6*7/2

// scale brings each logarithm to mean 0 and deviation 1 over the training rows.
type scale struct{ mean, deviation numbers }

func scaleOf(rows []numbers) scale {
	var s scale
	for _, r := range rows {
		for i, x := range r.logs() {
			s.mean[i] += x / float64(len(rows))
		}
	}
	for _, r := range rows {
		for i, x := range r.logs() {
			d := x - s.mean[i]
			s.deviation[i] += float64(d*d) / float64(len(rows))
		}
	}
	for i, v := range s.deviation {
		if s.deviation[i] = math.Sqrt(v); v < 1e-12 {
			s.deviation[i] = 1 // all customers are alike in it: it says nothing
		}
	}
	return s
}

// farthest is how many deviations from the mean count as farther ones do: a
// square has no business with the one wholesaler among thousands.
const farthest = 2.5

// terms writes the model's terms of a customer to out.
func (s *scale) terms(out []float64, n numbers) {
	z := n.logs()
	for i := range z {
		z[i] = min(max((z[i]-s.mean[i])/s.deviation[i], -farthest), farthest)
	}
	out[0] = 1
	at := 1 + copy(out[1:], z[:])
	for i := range z {
		for j := i; j < len(z); j++ {
			out[at] = z[i] * z[j]
			at++
		}
	}
}

// table holds rows of terms, one after the other.
type table []float64

func (s *scale) table(rows []numbers) table {
	t := make(table, len(rows)*terms)
	for i, r := range rows {
		s.terms(t[i*terms:(i+1)*terms], r)
	}
	return t
}

func (t table) row(i int) []float64 { return t[i*terms : (i+1)*terms] }

// Weights of a model, one a term.
type weights [terms]float64

// sum is the log of the odds that the model gives to a row.
func (w *weights) sum(row []float64) float64 {
	x := (*weights)(row)
	sum := 0.0
	for i := range x {
		sum += float64(w[i] * x[i])
	}
	return sum
}

func logistic(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + portable.Exp(-x))
	}
	e := portable.Exp(x)
	return e / (1 + e)
}

// fitting is a logistic regression being fitted: the mean loss over some rows
// of a table and the penalty on the weights.
type fitting struct {
	table table
	buys  []bool
	rows  []int

	at     []float64 // where loss, slope and odds were computed last
	loss   float64
	slope  [terms]float64
	chance []float64 // the probability of each row
}

// penalty on half the square of each weight but the constant's. Terms that say
// the same are kept from growing against each other, and Newton's step exists.
const penalty = 1e-3

// evaluate computes loss and slope in one pass.
func (f *fitting) evaluate(at []float64) {
	if f.at != nil && slices.Equal(f.at, at) {
		return
	}
	f.at = append(f.at[:0], at...)
	f.loss, f.slope, f.chance = 0, [terms]float64{}, f.chance[:0]
	w := (*weights)(at)
	for _, r := range f.rows {
		row := f.table.row(r)
		sum := w.sum(row)
		p := logistic(sum)
		// -ln of the probability of what happened, from the sum: no logarithm of
		// a number near 0.
		against, off := sum, p
		if f.buys[r] {
			against, off = -sum, p-1
		}
		f.loss += max(against, 0) + portable.Log(1+portable.Exp(-math.Abs(against)))
		for i := range f.slope {
			f.slope[i] += float64(off * row[i])
		}
		f.chance = append(f.chance, p)
	}
	n := float64(len(f.rows))
	f.loss /= n
	for i := range f.slope {
		f.slope[i] /= n
		if i > 0 {
			f.loss += float64(penalty / 2 * float64(at[i]*at[i]))
			f.slope[i] += float64(penalty * at[i])
		}
	}
}

// bend writes the second derivatives to out.
func (f *fitting) bend(out *mat.SymDense, at []float64) {
	f.evaluate(at)
	var sums [terms]weights
	n := float64(len(f.rows))
	for k, r := range f.rows {
		row := (*weights)(f.table.row(r))
		spread := float64(f.chance[k]*(1-f.chance[k])) / n
		for i := range row {
			x, sum := float64(spread*row[i]), &sums[i]
			for j := i; j < terms; j++ {
				sum[j] += float64(x * row[j])
			}
		}
	}
	for i := range sums {
		if i > 0 {
			sums[i][i] += penalty
		}
		for j := i; j < terms; j++ {
			out.SetSym(i, j, sums[i][j])
		}
	}
}

// fit finds the weights. The loss is convex and has one lowest point, so that
// the start does not matter.
func (f *fitting) fit() (weights, error) {
	problem := optimize.Problem{
		Func: func(at []float64) float64 { f.evaluate(at); return f.loss },
		Grad: func(slope, at []float64) { f.evaluate(at); copy(slope, f.slope[:]) },
		Hess: f.bend,
	}
	settings := &optimize.Settings{GradientThreshold: 1e-8, MajorIterations: 100}
	found, err := optimize.Minimize(problem, make([]float64, terms), settings, &optimize.Newton{})
	if err != nil {
		return weights{}, fmt.Errorf("the model could not be fitted: %w", err)
	}
	return weights(found.X), nil
}

// rowsEach is how many rows a model is fitted to at most; 28 weights need no
// more.
const rowsEach = 10_000

// train fits one model a seed, each to half the customers at most, drawn by its
// seed, all the months of each.
func train(t table, buys []bool, customers []int, seed uint64, models int, hear func(int)) ([]weights, error) {
	share := min(0.5, float64(rowsEach)/float64(len(buys)))
	all := make([]weights, models)
	for m := range all {
		hear(m)
		d := dice.New(seed, fmt.Sprintf("ap/model/%d", m))
		f := fitting{table: t, buys: buys}
		for r, c := range customers {
			if drawn := d.At(uint64(c), 0); drawn.Bool(share) {
				f.rows = append(f.rows, r)
			}
		}
		if len(f.rows) == 0 {
			return nil, fmt.Errorf("no customer was drawn for model %d: there are too few", m+1)
		}
		var err error
		if all[m], err = f.fit(); err != nil {
			return nil, err
		}
	}
	return all, nil
}
