package fair

// heap is a binary heap of flows that know their own place in it, least first
// by key, then by seq: a total order, so that what comes out does not depend
// on how the heap happens to lie.
type heap struct {
	flows []*Flow
	seq   uint64
}

func (h *heap) has(f *Flow) bool { return f.index != 0 }

func (h *heap) least() *Flow {
	if len(h.flows) == 0 {
		return nil
	}
	return h.flows[0]
}

// push enters f behind all others of the same key.
func (h *heap) push(f *Flow, key int64) {
	h.seq++
	f.key, f.seq = key, h.seq
	h.flows = append(h.flows, f)
	f.index = len(h.flows)
	h.up(len(h.flows) - 1)
}

// move gives f another key, behind all others that have it already.
func (h *heap) move(f *Flow, key int64) {
	h.seq++
	f.seq = h.seq
	h.rekey(f, key)
}

// rekey gives f another key. Among others of that key its seq decides, so that
// it does not matter in which order several flows are given new keys.
func (h *heap) rekey(f *Flow, key int64) {
	f.key = key
	h.up(f.index - 1)
	h.down(f.index - 1)
}

func (h *heap) remove(f *Flow) {
	i, last := f.index-1, len(h.flows)-1
	h.swap(i, last)
	h.flows[last] = nil
	h.flows = h.flows[:last]
	f.index = 0
	if i < last {
		h.up(i)
		h.down(i)
	}
}

func (h *heap) before(i, j int) bool {
	a, b := h.flows[i], h.flows[j]
	return a.key < b.key || a.key == b.key && a.seq < b.seq
}

func (h *heap) swap(i, j int) {
	h.flows[i], h.flows[j] = h.flows[j], h.flows[i]
	h.flows[i].index, h.flows[j].index = i+1, j+1
}

func (h *heap) up(i int) {
	for i > 0 && h.before(i, (i-1)/2) {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (h *heap) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h.flows); c++ {
			if h.before(c, least) {
				least = c
			}
		}
		if least == i {
			return
		}
		h.swap(i, least)
		i = least
	}
}
