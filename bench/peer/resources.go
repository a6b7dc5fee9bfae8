package main

import (
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// tableName names the listener, and its route table.
const tableName = "http"

var ads = &corev3.ConfigSource{
	ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}},
	ResourceApiVersion:    corev3.ApiVersion_V3,
}

func (w *world) clusters() []types.Resource {
	clusters := make([]types.Resource, len(w.backends))
	for i, b := range w.backends {
		clusters[i] = &clusterv3.Cluster{
			Name:                 b.name,
			AltStatName:          b.name,
			ConnectTimeout:       durationpb.New(5 * time.Second),
			ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS},
			EdsClusterConfig:     &clusterv3.Cluster_EdsClusterConfig{EdsConfig: ads, ServiceName: b.name},
		}
	}
	return clusters
}

func (w *world) assignments() []types.Resource {
	assignments := make([]types.Resource, len(w.backends))
	for i, b := range w.backends {
		endpoint := &endpointv3.Endpoint{Address: socketAddress(b.address, 8080)}
		assignments[i] = &endpointv3.ClusterLoadAssignment{
			ClusterName: b.name,
			Endpoints: []*endpointv3.LocalityLbEndpoints{{
				LbEndpoints: []*endpointv3.LbEndpoint{{
					HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: endpoint},
				}},
			}},
		}
	}
	return assignments
}

func (w *world) tables() []types.Resource {
	groups := w.byHost()
	hosts := make([]*routev3.VirtualHost, len(groups))
	for i, group := range groups {
		routes := make([]*routev3.Route, len(group))
		for j, r := range group {
			routes[j] = w.routeOf(r)
		}
		host := group[0].host
		hosts[i] = &routev3.VirtualHost{Name: host, Domains: []string{host}, Routes: routes}
	}
	return []types.Resource{&routev3.RouteConfiguration{
		Name:                     tableName,
		VirtualHosts:             hosts,
		IgnorePortInHostMatching: true,
	}}
}

func (w *world) routeOf(r *route) *routev3.Route {
	return &routev3.Route{
		Name: r.name,
		Match: &routev3.RouteMatch{
			PathSpecifier: &routev3.RouteMatch_PathSeparatedPrefix{PathSeparatedPrefix: r.prefix},
		},
		Action: &routev3.Route_Route{Route: &routev3.RouteAction{
			ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: w.backends[r.backend].name},
			Timeout:          durationpb.New(15 * time.Second),
		}},
	}
}

func listeners() ([]types.Resource, error) {
	router, err := anypb.New(&routerv3.Router{})
	if err != nil {
		return nil, err
	}
	manager, err := anypb.New(connectionManager(router))
	if err != nil {
		return nil, err
	}
	return []types.Resource{&listenerv3.Listener{
		Name:    tableName,
		Address: socketAddress("0.0.0.0", 10000),
		FilterChains: []*listenerv3.FilterChain{{
			Filters: []*listenerv3.Filter{{
				Name:       "envoy.filters.network.http_connection_manager",
				ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: manager},
			}},
		}},
	}}, nil
}

func connectionManager(router *anypb.Any) proto.Message {
	return &hcmv3.HttpConnectionManager{
		StatPrefix: tableName,
		RouteSpecifier: &hcmv3.HttpConnectionManager_Rds{
			Rds: &hcmv3.Rds{ConfigSource: ads, RouteConfigName: tableName},
		},
		HttpFilters: []*hcmv3.HttpFilter{{
			Name:       "envoy.filters.http.router",
			ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: router},
		}},
		UseRemoteAddress:     wrapperspb.Bool(true),
		NormalizePath:        wrapperspb.Bool(true),
		MergeSlashes:         true,
		StripTrailingHostDot: true,
	}
}

func socketAddress(address string, port uint32) *corev3.Address {
	return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
		Address:       address,
		PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port},
	}}}
}
