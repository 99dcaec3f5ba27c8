// Dogon in Go: both ladders, with rules and a small alpha-beta search of its own.
//
// To build it, and to make a bundle of it for a site:
//
//     CGO_ENABLED=0 go build -o dogon dogon.go
//     cat > bot.toml <<'END'
//     [bot]
//     name = "Dogon in Go"
//     version = "1"
//     command = ["dogon"]
//     games = ["dogon-kulei", "dogon-gagara"]
//     END
//     zip dogon.zip bot.toml dogon
//
// engines/PROTOCOL.md describes the protocol, the docstring of engines/rules/dogon.py the rules. Two
// additional commands help to check the rules: "perft N" counts the sequences of N moves from the present
// position, and "fen" prints it.
//
// Sections: the board, its moves, the search, the protocol.

package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	win         = 1000000
	nearlyWin   = win - 1000
	maxDepth    = 60
	nodesACheck = 512
	maxTurns    = 2
	price       = 2
	none        = -1
	forth       = 1
	back        = -1
)

type ladder struct {
	name         string
	width, seeds int
}

var ladders = []ladder{{"dogon-kulei", 6, 4}, {"dogon-gagara", 8, 6}}
var board = ladders[0]

// ---- the board

// Holes count anticlockwise from a1: White's row from left to right, then Black's from right to left. The
// run is that of the player who sowed last: its direction (0: none) and how often it was changed.
type position struct {
	holes      [16]int
	stores     [2]int
	side       int
	passed     bool
	run, turns int
	ply        int
}

type move struct{ hole, direction int }

var pass = move{none, forth}

func initial() position {
	var p position
	for hole := 0; hole < 2*board.width; hole++ {
		p.holes[hole] = board.seeds
	}
	return p
}

// The holes in the order of a position string: Black's row from a2, then White's from a1.
func order() []int {
	var holes []int
	for k := 0; k < board.width; k++ {
		holes = append(holes, 2*board.width-1-k)
	}
	for k := 0; k < board.width; k++ {
		holes = append(holes, k)
	}
	return holes
}

func parse(fields []string) (position, bool) {
	var p position
	if len(fields) != 7 {
		return p, false
	}
	texts := strings.Split(strings.Replace(fields[0], "/", ",", 1), ",")
	if len(texts) != 2*board.width {
		return p, false
	}
	for k, hole := range order() {
		p.holes[hole], _ = strconv.Atoi(texts[k])
	}
	if fields[1] == "b" {
		p.side = 1
	}
	p.stores[0], _ = strconv.Atoi(fields[2])
	p.stores[1], _ = strconv.Atoi(fields[3])
	p.passed = fields[4] == "p"
	if run := fields[5]; len(run) == 2 {
		p.run = map[byte]int{'+': forth, '-': back}[run[0]]
		p.turns = int(run[1] - '0')
	}
	p.ply, _ = strconv.Atoi(fields[6])
	return p, true
}

func (p position) String() string {
	var texts []string
	for _, hole := range order() {
		texts = append(texts, strconv.Itoa(p.holes[hole]))
	}
	rows := strings.Join(texts[:board.width], ",") + "/" + strings.Join(texts[board.width:], ",")
	passed, run := "-", "-"
	if p.passed {
		passed = "p"
	}
	if p.run != 0 {
		run = sign(p.run) + strconv.Itoa(p.turns)
	}
	side := []string{"w", "b"}[p.side]
	return fmt.Sprintf("%s %s %d %d %s %s %d", rows, side, p.stores[0], p.stores[1], passed, run, p.ply)
}

func sign(direction int) string {
	if direction == forth {
		return "+"
	}
	return "-"
}

func owner(hole int) int { return hole / board.width }

func next(hole, direction int) int {
	holes := 2 * board.width
	return (hole + direction + holes) % holes
}

func (p *position) home(side int) int {
	sum := 0
	for k := 0; k < board.width; k++ {
		sum += p.holes[side*board.width+k]
	}
	return sum
}

// ---- its moves

func (m move) String() string {
	if m.hole == none {
		return "pass"
	}
	if m.hole < board.width {
		return fmt.Sprintf("%c1%s", 'a'+m.hole, sign(m.direction))
	}
	return fmt.Sprintf("%c2%s", 'a'+2*board.width-1-m.hole, sign(m.direction))
}

// The number of seeds that reach the other row.
func reach(hole, direction int) int {
	place := hole % board.width
	if direction == forth {
		return board.width - place
	}
	return place + 1
}

func (p *position) maySow(hole, direction int) bool {
	seeds := p.holes[hole]
	if seeds >= reach(hole, direction) {
		there := p.holes[next(hole, direction)]
		return seeds > 1 || there == 1 || there == 2 // a single seed has to capture
	}
	if seeds < 2 || !p.passed {
		return false
	}
	return p.run == 0 || p.run == direction || p.turns < maxTurns
}

func (p *position) sowings() []move {
	var found []move
	for k := 0; k < board.width; k++ {
		for _, direction := range []int{forth, back} {
			if hole := p.side*board.width + k; p.maySow(hole, direction) {
				found = append(found, move{hole, direction})
			}
		}
	}
	return found
}

// Whether the other side could sow if this one passed; this one has no sowing.
func (p position) otherCouldSow() bool {
	p.side, p.passed = 1-p.side, true
	return len(p.sowings()) > 0
}

// The legal moves; there is none if the game is over.
func (p *position) moves() []move {
	found := p.sowings()
	if len(found) == 0 && p.stores[p.side] >= price && p.otherCouldSow() {
		found = append(found, pass)
	}
	return found
}

func (p position) play(m move) position {
	if m == pass {
		p.stores[p.side] -= price
		p.stores[1-p.side] += price
	} else {
		p.sow(m)
	}
	p.passed = m == pass
	p.side = 1 - p.side
	p.ply++
	return p
}

func (p *position) sow(m move) {
	last, seeds := m.hole, p.holes[m.hole]
	reaches := seeds >= reach(m.hole, m.direction)
	p.holes[m.hole] = 0
	for ; seeds > 0; seeds-- {
		last = next(last, m.direction)
		if last == m.hole {
			last = next(last, m.direction)
		}
		p.holes[last]++
	}
	for owner(last) != p.side && (p.holes[last] == 2 || p.holes[last] == 3) {
		p.stores[p.side] += p.holes[last]
		p.holes[last] = 0
		last = next(last, -m.direction)
	}
	switch {
	case reaches:
		p.run, p.turns = 0, 0
	case p.run == 0:
		p.run, p.turns = m.direction, 0
	case p.run != m.direction:
		p.run, p.turns = m.direction, p.turns+1
	}
}

func (p position) perft(depth int) int {
	if depth == 0 {
		return 1
	}
	sum := 0
	for _, m := range p.moves() {
		sum += p.play(m).perft(depth - 1)
	}
	return sum
}

// ---- the search

type search struct {
	end              time.Time // zero: no limit
	mostNodes, nodes int
	depth            int
	isOver           bool
}

func (s *search) mustEnd() bool {
	if s.nodes >= s.mostNodes {
		s.isOver = true
	} else if s.nodes%nodesACheck == 0 {
		isLate := !s.end.IsZero() && !time.Now().Before(s.end)
		s.isOver = s.isOver || isLate || hasStop()
	}
	return s.isOver
}

// The score of a finished game for the side to move.
func (p *position) final(distance int) int {
	mine, theirs := p.stores[p.side], p.stores[1-p.side]
	if p.otherCouldSow() { // and this side cannot pay for its pass
		theirs += p.home(0) + p.home(1)
	} else {
		mine += p.home(p.side)
		theirs += p.home(1 - p.side)
	}
	switch {
	case mine > theirs:
		return win - distance
	case mine < theirs:
		return distance - win
	}
	return 0
}

func (s *search) value(p *position, depth, ply, alpha, beta int) int {
	if s.mustEnd() {
		return 0
	}
	s.nodes++
	moves := p.moves()
	if len(moves) == 0 {
		return p.final(ply)
	}
	if depth == 0 {
		return 100*(p.stores[p.side]-p.stores[1-p.side]) + 10*(p.home(p.side)-p.home(1-p.side))
	}
	for _, m := range moves {
		after := p.play(m)
		value := -s.value(&after, depth-1, ply+1, -beta, -alpha)
		if s.isOver {
			return 0
		}
		alpha = max(alpha, value)
		if alpha >= beta {
			break
		}
	}
	return alpha
}

// The best move by iterative deepening, "none" if there is no move.
func (s *search) run(p *position) string {
	moves := p.moves()
	if len(moves) == 0 {
		return "none"
	}
	begun := time.Now()
	for depth := 1; depth <= min(s.depth, maxDepth); depth++ {
		alpha, best := -2*win, 0
		for k, m := range moves {
			after := p.play(m)
			value := -s.value(&after, depth-1, 1, -2*win, -alpha)
			if s.isOver {
				return moves[0].String()
			}
			if value > alpha {
				alpha, best = value, k
			}
		}
		moves[0], moves[best] = moves[best], moves[0]
		ms := time.Since(begun).Milliseconds()
		say("info depth %d score %s nodes %d time %d pv %s", depth, score(alpha), s.nodes, ms, moves[0])
		if alpha > nearlyWin || alpha < -nearlyWin {
			break
		}
	}
	for s.end.IsZero() && s.mostNodes == noLimit && s.depth == noLimit && !hasStop() {
		time.Sleep(5 * time.Millisecond) // an endless search answers only after stop
	}
	return moves[0].String()
}

func score(value int) string {
	switch {
	case value > nearlyWin:
		return fmt.Sprintf("mate %d", win-value)
	case value < -nearlyWin:
		return fmt.Sprintf("mate %d", -win-value)
	}
	return fmt.Sprintf("cp %d", value)
}

func max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

// ---- the protocol

const noLimit = 1 << 60

// The lines of standard input come from a goroutine, so that a search sees stop; waiting lines are kept.
var lines = make(chan string, 1024)
var waiting []string
var isClosed bool

func readLines() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(make([]byte, 1<<16), 1<<24)
	for input.Scan() {
		lines <- strings.TrimSpace(input.Text())
	}
	close(lines)
}

func nextLine() (string, bool) {
	if len(waiting) > 0 {
		line := waiting[0]
		waiting = waiting[1:]
		return line, true
	}
	line, isOpen := <-lines
	return line, isOpen
}

// Whether stop or quit has arrived, or the input has ended. Answers isready; keeps other lines.
func hasStop() bool {
	for k, line := range waiting {
		if line == "stop" {
			waiting = append(waiting[:k], waiting[k+1:]...)
			return true
		}
	}
	for !isClosed {
		select {
		case line, isOpen := <-lines:
			switch {
			case !isOpen:
				isClosed = true
			case line == "stop":
				return true
			case line == "isready":
				say("readyok")
			default:
				waiting = append(waiting, line)
				if line == "quit" {
					return true
				}
			}
		default:
			return false
		}
	}
	return true
}

// Standard output has no buffer in Go: the line is sent at once.
func say(format string, values ...any) {
	fmt.Printf(format+"\n", values...)
}

// The number after a word of a go line; -1 if there is none.
func number(words []string, name string) int {
	for k := 0; k+1 < len(words); k++ {
		if words[k] == name {
			if value, err := strconv.Atoi(words[k+1]); err == nil {
				return max(0, value)
			}
		}
	}
	return -1
}

// The search of a go line for the side to move; White is p1.
func newSearch(words []string, side int) *search {
	s := &search{mostNodes: noLimit, depth: noLimit}
	budget := noLimit
	if left := number(words, []string{"p1time", "p2time"}[side]); left >= 0 {
		increment := max(0, number(words, []string{"p1inc", "p2inc"}[side]))
		budget = min(left/25+increment/2, left/3)
	}
	if ms := number(words, "movetime"); ms >= 0 {
		budget = min(budget, max(0, ms-10-ms/10))
	}
	if budget < noLimit {
		s.end = time.Now().Add(time.Duration(budget) * time.Millisecond)
	}
	if nodes := number(words, "nodes"); nodes >= 0 {
		s.mostNodes = nodes
	}
	if depth := number(words, "depth"); depth >= 0 {
		s.depth = max(1, depth)
	}
	return s
}

// The position of a position line; false if a word of it is not understood.
func readPosition(words []string) (position, bool) {
	end := len(words)
	for k, word := range words {
		if word == "moves" {
			end = k
			break
		}
	}
	p := initial()
	if len(words) > 1 && words[1] == "fen" {
		var isRead bool
		if p, isRead = parse(words[2:end]); !isRead {
			return p, false
		}
	}
	for _, token := range words[min(end+1, len(words)):] {
		isLegal := false
		for _, m := range p.moves() {
			if m.String() == token {
				p, isLegal = p.play(m), true
				break
			}
		}
		if !isLegal {
			return p, false
		}
	}
	return p, true
}

func setLadder(words []string) {
	for _, one := range ladders {
		if len(words) == 5 && words[2] == "UGI_Variant" && words[4] == one.name {
			board = one
		}
	}
}

func main() {
	go readLines()
	p := initial()
	for {
		line, isOpen := nextLine()
		words := strings.Fields(line)
		if !isOpen {
			return
		}
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "ugi":
			say("id name Dogon in Go\nid author Duarena")
			say("option name UGI_Variant type combo default dogon-kulei var dogon-kulei var dogon-gagara\nugiok")
		case "setoption":
			setLadder(words)
		case "isready":
			say("readyok")
		case "position":
			if read, isRead := readPosition(words); isRead {
				p = read
			}
		case "perft":
			depth, _ := strconv.Atoi(words[len(words)-1])
			say("%d", p.perft(depth))
		case "fen":
			say("%s", p)
		case "go":
			say("bestmove %s", newSearch(words, p.side).run(&p))
		case "quit":
			return
		}
	}
}
