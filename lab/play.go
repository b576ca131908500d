package lab

import "fmt"

// Play writes the plan, into raw if that names a folder, plays its arms in their order,
// and enters into r what all labs say: order, verdicts, what was kept. play plays the arm
// with that index, keeps its records and returns its figures. progress, if not nil, hears
// of each arm before it is played. What r has for lab, seed and meta is the plan's too.
//
// The results still have to be written: see Recorder.Results.
func Play(r *Results, plan Plan, raw string, progress func(done, total int, arm string), play func(i int, keep *Arm) (any, error)) (*Recorder, error) {
	plan.Lab, plan.Seed, plan.Version, plan.Command = r.Lab, r.Seed, r.Version, r.Command
	for _, a := range plan.Arms {
		r.ArmOrder = append(r.ArmOrder, a.Name)
	}
	recorder, err := Open(raw, plan)
	if err != nil {
		return nil, err
	}
	figures := map[string]Figures{}
	for i, a := range plan.Arms {
		if progress != nil {
			progress(i, len(plan.Arms), a.Name)
		}
		if figures[a.Name], err = playArm(recorder, i, a.Name, play); err != nil {
			return nil, fmt.Errorf("arm %s: %w", a.Name, err)
		}
	}
	r.Verdicts = Judge(plan.Predictions, figures)
	r.PlanSHA256, r.Records = recorder.PlanSHA256(), recorder.Kept()
	return recorder, nil
}

func playArm(r *Recorder, i int, name string, play func(i int, keep *Arm) (any, error)) (Figures, error) {
	keep, err := r.Arm(name)
	if err != nil {
		return nil, err
	}
	result, err := play(i, keep)
	if err != nil {
		return nil, err
	}
	if err := keep.Close(); err != nil {
		return nil, err
	}
	return FiguresOf(result)
}
