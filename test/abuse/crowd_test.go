package abuse

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
)

// gather creates the crowd. The trader who may share an address with it moves first: an earlier
// attack may have spent the anonymous requests of the old one.
func (s *siege) gather() {
	s.Helper()
	a := s.attack
	s.honest.traders[0].move()
	s.tally = &tally{wants: a.wants, status: a.status, seen: map[string]bool{}, texts: map[string]int{}}
	if a.book != nil {
		s.build(a.book)
	}
	if a.band != "" {
		s.bound(a.band)
	}
	for i := range a.members {
		m := &member{siege: s, source: newSource(attackersNetwork + byte(sources.Load()>>16))}
		if a.neighbour && i == 0 {
			m.source = s.honest.traders[0].source
		}
		if a.kind != "strangers" {
			s.equip(m)
		}
		for range a.connections {
			m.conns = append(m.conns, &connection{
				member: m, client: clientFrom(m.source, true), tally: s.tally,
				kept: map[string]string{}, counts: map[string]int64{}, random: rand.New(rand.NewPCG(rand.Uint64(), uint64(i))),
			})
		}
		s.members = append(s.members, m)
	}
	for _, m := range s.members {
		for _, c := range m.conns {
			c.prepare()
		}
	}
}

// prepare takes the first steps; those of a stream are taken when it opens.
func (c *connection) prepare() {
	for i := range c.attack.first {
		if step := &c.attack.first[i]; step.word == "send" {
			c.do(step)
		}
	}
}

// equip gives a member an account, with the attack's funds, and a session if its kind has
// one.
func (s *siege) equip(m *member) {
	s.Helper()
	email := fmt.Sprintf("member%d@crowd.example", numbers.Add(1))
	id, key := s.x.open(s.T, email, s.attack.funds...)
	m.key = key
	switch s.attack.kind {
	case "signers":
		m.signer = s.newSigner(id)
		return
	case "accounts":
		return
	}
	p := &person{honest: s.honest, email: email, client: clientFrom(m.source, true), password: "battery staple"}
	defer p.client.CloseIdleConnections()
	steps := []func() error{p.reset, p.logIn}
	if s.attack.confirmed {
		steps = append(steps, p.confirmEverything)
	}
	if err := inTurn(steps...); err != nil {
		s.Fatal(err)
	}
	m.session = p.session
}

// bound gives ATOM/USDT a price band.
func (s *siege) bound(ratio string) {
	s.Helper()
	document := `markets: [{base: ATOM, quote: USDT, base_precision: 2, quote_precision: 4, min_order: "5", initial_price: "8", ` +
		`maker_fee: "0.001", taker_fee: "0.001", band: "` + ratio + `", enabled: true}]`
	if err := s.x.operate("catalogue/apply", fields{"document": document}, nil); err != nil {
		s.Fatal(err)
	}
}

// scatter closes the crowd's connections.
func (s *siege) scatter() {
	for _, m := range s.members {
		for _, c := range m.conns {
			c.close()
		}
	}
}

// build lets other accounts sell at many prices, each with as many orders at once as
// allowed.
func (s *siege) build(l *ladder) {
	s.Helper()
	const each = 450
	levels := l.levels
	if !*fullFlag {
		levels /= 10
	}
	base, _, _ := strings.Cut(l.pair, "/")
	var makers sync.WaitGroup
	for from := 0; from < levels; from += each {
		_, key := s.x.open(s.T, fmt.Sprintf("maker%d@people.example", numbers.Add(1)), "1000000 "+base)
		makers.Go(func() {
			client := clientFrom(newSource(tradersNetwork), true)
			defer client.CloseIdleConnections()
			for i := from; i < min(from+each, levels); i++ {
				body := fmt.Sprintf(`{"api_key":%q,"pair":%q,"side":"SELL","type":"LIMIT","time_in_force":"GTC","price":%q,"amount":"1"}`, key, l.pair, rise(l.from, l.step, int64(i)))
				a, err := request(client, http.MethodPost, "http://"+s.x.address+"/spot/open_orders/new", body, "", nil)
				if err != nil || !a.taken() {
					s.Errorf("making a book: %d %s %v", a.status, a.body, err)
					return
				}
			}
		})
	}
	makers.Wait()
}
