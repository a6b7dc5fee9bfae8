package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A route is one prefix on one host, and the backend that its requests go to.
type route struct {
	name, host, prefix string
	backend            int
}

// A backend is one endpoint under a name.
type backend struct {
	name, address string
}

// A world is all that the control plane serves. bench/ours/world.mjs makes the same one.
type world struct {
	routes   []route
	backends []backend
}

// newWorld makes n routes, each on a host of its own or all on one, over so many backends in turn; with none, each
// route has a backend of its own.
func newWorld(n int, form string, backends int) (*world, error) {
	if form != "hosts" && form != "prefixes" {
		return nil, fmt.Errorf("the form is %q: take hosts or prefixes", form)
	}
	if backends == 0 {
		backends = n
	}
	w := &world{routes: make([]route, n), backends: make([]backend, backends)}
	for i := range w.routes {
		host := "shop.example.com"
		if form == "hosts" {
			host = fmt.Sprintf("host-%d.example.com", i)
		}
		w.routes[i] = route{
			name:    fmt.Sprintf("bench/r%d", i),
			host:    host,
			prefix:  fmt.Sprintf("/r%d", i),
			backend: i % backends,
		}
	}
	for i := range w.backends {
		w.backends[i] = backend{
			name:    fmt.Sprintf("service/bench/backend-%d/8080", i),
			address: fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255),
		}
	}
	return w, nil
}

// apply makes one change. What it leads to is built afterwards, of everything.
func (w *world) apply(c change) error {
	switch {
	case c.Cmd == "changeEndpoint" && c.I < len(w.backends):
		w.backends[c.I].address = c.Address
	case c.Cmd == "changePath" && c.I < len(w.routes):
		w.routes[c.I].prefix = fmt.Sprintf("/r%d-%s", c.I, c.Suffix)
	default:
		return fmt.Errorf("there is no %q of %d here", c.Cmd, c.I)
	}
	return nil
}

// byHost groups the routes by host, in the order of the hosts; the longest prefix of a host comes first.
func (w *world) byHost() [][]*route {
	routes := make([]*route, len(w.routes))
	for i := range w.routes {
		routes[i] = &w.routes[i]
	}
	slices.SortFunc(routes, func(a, b *route) int {
		return cmp.Or(
			strings.Compare(a.host, b.host),
			cmp.Compare(len(b.prefix), len(a.prefix)),
			strings.Compare(a.prefix, b.prefix),
		)
	})
	var groups [][]*route
	for first := 0; first < len(routes); {
		end := first + 1
		for end < len(routes) && routes[end].host == routes[first].host {
			end++
		}
		groups = append(groups, routes[first:end])
		first = end
	}
	return groups
}
