package main

import (
	"errors"
	"flag"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// runEtcd serves one member in plain http, without fsync: the data lives no longer than the tests.
func runEtcd(arguments []string) error {
	flags := flag.NewFlagSet("etcd", flag.ExitOnError)
	folder := flags.String("data-dir", "", "folder of the data")
	client := flags.String("client-url", "", "where clients connect")
	peer := flags.String("peer-url", "", "where peers would connect")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	clientURL, err := url.Parse(*client)
	if err != nil {
		return err
	}
	peerURL, err := url.Parse(*peer)
	if err != nil {
		return err
	}

	config := embed.NewConfig()
	config.Dir = *folder
	config.ListenClientUrls = []url.URL{*clientURL}
	config.AdvertiseClientUrls = config.ListenClientUrls
	config.ListenPeerUrls = []url.URL{*peerURL}
	config.AdvertisePeerUrls = config.ListenPeerUrls
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.UnsafeNoFsync = true
	config.LogLevel = "warn"

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	server, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer server.Close()
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(time.Minute):
		return errors.New("not ready after a minute")
	}
	select {
	case <-stop:
		return nil
	case err := <-server.Err():
		return err
	}
}
