// A control plane as it is usually written in Go: each change rebuilds all resources, hashes them, and hands them to
// go-control-plane's SnapshotCache. The benchmarks drive it over stdin and stdout, a JSON object on each line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
)

// change is one changed object of the world.
type change struct {
	Cmd     string
	I       int
	Address string // of changeEndpoint
	Suffix  string // of changePath
}

// typeURL is the type of the resource that it changes.
func (c change) typeURL() string {
	if c.Cmd == "changeEndpoint" {
		return resource.EndpointType
	}
	return resource.RouteType
}

// command is what stands on a line: world, changes, burst or rusage.
type command struct {
	Cmd      string
	Routes   int
	Backends int
	Form     string
	Changes  []change // of changes and burst
}

// answer stands on the line that answers a command, and names what it has cost.
type answer struct {
	usage
	cost
	Port    int     `json:"port"`
	BuildMs float64 `json:"buildMs"`
	Error   string  `json:"error,omitempty"`
}

// cost is the CPU that each of some changes has taken: until its bytes were written for each stream, and until
// each of these had accepted it, in microseconds.
type cost struct {
	WireUs  int64 `json:"wireUs"`
	AckedUs int64 `json:"ackedUs"`
}

// fleet makes one node of all Envoys of a data plane: they share a snapshot.
type fleet struct{}

func (fleet) ID(*corev3.Node) string { return "fleet" }

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	snapshots := cache.NewSnapshotCache(true, fleet{}, nil)
	wire := newWire()
	port, err := serve(ctx, snapshots, wire)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(answer{usage: usageNow(), Port: port}); err != nil {
		return err
	}
	plane := &plane{snapshots: snapshots, wire: wire}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if err := out.Encode(plane.answer(ctx, lines.Bytes())); err != nil {
			return err
		}
	}
	return lines.Err()
}

// serve serves both variants of ADS on a free port.
func serve(ctx context.Context, snapshots cache.Cache, wire *wire) (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	s := grpc.NewServer(grpc.MaxRecvMsgSize(1<<26), grpc.StreamInterceptor(wire.intercept))
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(s, server.NewServer(ctx, snapshots, nil))
	go func() {
		if err := s.Serve(listener); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// A plane is the world, and the cache that it is served from.
type plane struct {
	snapshots cache.SnapshotCache
	wire      *wire
	world     *world
}

// answer does what a line says. What has changed is in the cache when it returns.
func (p *plane) answer(ctx context.Context, line []byte) answer {
	var c command
	start := time.Now()
	err := json.Unmarshal(line, &c)
	if err == nil && c.Cmd == "world" {
		p.world, err = newWorld(c.Routes, c.Form, c.Backends)
		start = time.Now()
	}
	var cost cost
	if err == nil {
		cost, err = p.do(ctx, c)
	}
	answer := answer{usage: usageNow(), cost: cost, BuildMs: float64(time.Since(start).Microseconds()) / 1000}
	if err != nil {
		answer.Error = err.Error()
	}
	return answer
}

func (p *plane) do(ctx context.Context, c command) (cost, error) {
	if p.world == nil && c.Cmd != "rusage" {
		return cost{}, fmt.Errorf("%s comes before world", c.Cmd)
	}
	switch c.Cmd {
	case "rusage":
		return cost{}, nil
	case "world":
		return cost{}, p.publish(ctx)
	case "changes":
		return p.oneByOne(ctx, c.Changes)
	case "burst":
		return cost{}, p.atOnce(ctx, c.Changes)
	default:
		return cost{}, fmt.Errorf("an unknown command: %q", c.Cmd)
	}
}

// oneByOne makes each change when all streams have accepted the one before.
func (p *plane) oneByOne(ctx context.Context, changes []change) (cost, error) {
	var wireUs int64
	start := cpuUs()
	for _, c := range changes {
		p.wire.expect(c.typeURL())
		before := cpuUs()
		if err := p.atOnce(ctx, []change{c}); err != nil {
			return cost{}, err
		}
		p.wire.untilSent()
		wireUs += cpuUs() - before
		p.wire.untilAcked()
	}
	n := int64(len(changes))
	return cost{WireUs: wireUs / n, AckedUs: (cpuUs() - start) / n}, nil
}

func (p *plane) atOnce(ctx context.Context, changes []change) error {
	for _, c := range changes {
		if err := p.world.apply(c); err != nil {
			return err
		}
	}
	return p.publish(ctx)
}

func (p *plane) publish(ctx context.Context) error {
	s, err := p.world.snapshot()
	if err != nil {
		return err
	}
	return p.snapshots.SetSnapshot(ctx, fleet{}.ID(nil), s)
}
