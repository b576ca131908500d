package html

import (
	"fmt"
	"slices"
)

// maxRows of a table on a page; a page of a megabyte of table is not read.
const maxRows = 1000

// Table has names in the first column and in those listed in Left, figures to
// the right in the others.
type Table struct {
	Heading, Caption string
	Head             []string
	Rows             [][]string
	Left             []int
	Total            bool // the last row is the sum
}

type tableView struct {
	Head []cell
	Rows []rowView
	More string
}

type rowView struct {
	Total bool
	Cells []cell
}

type cell struct {
	Text string
	Word bool
}

func (t Table) draw() *tableView {
	word := func(i int) bool { return i == 0 || slices.Contains(t.Left, i) }
	v := &tableView{}
	for i, h := range t.Head {
		v.Head = append(v.Head, cell{h, word(i)})
	}
	for r, row := range t.Rows {
		if r == maxRows && len(t.Rows) > maxRows+1 {
			v.More = fmt.Sprintf("%d more rows are in the output of --json.", len(t.Rows)-maxRows)
			break
		}
		rv := rowView{Total: t.Total && r == len(t.Rows)-1}
		for i := range t.Head {
			text := ""
			if i < len(row) {
				text = row[i]
			}
			rv.Cells = append(rv.Cells, cell{text, word(i)})
		}
		v.Rows = append(v.Rows, rv)
	}
	return v
}

func (t Table) view(id string) sectionView {
	return sectionView{ID: id, Heading: t.Heading, Caption: t.Caption, Table: t.draw()}
}
