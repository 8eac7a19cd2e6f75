// Controlplane is the real Kubernetes control plane as one program, for the tests only.
//
// Each component runs as a process of its own: they keep global flags, metrics and feature gates, and a test wants to
// stop or restart one of them alone.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const usage = "usage: controlplane certificate FOLDER | etcd|apiserver|scheduler|manager FLAGS (ends when its stdin does)"

func main() {
	if len(os.Args) < 2 {
		exit(usage)
	}
	name := os.Args[1]
	os.Args = os.Args[1:] // cobra reads os.Args
	if name == "certificate" {
		exitOn(name, writeCertificate(os.Args[1:]))
	}
	go endWithParent()
	var command *cobra.Command
	switch name {
	case "etcd":
		exitOn(name, runEtcd(os.Args[1:]))
	case "apiserver":
		command = apiserver.NewAPIServerCommand()
	case "scheduler":
		command = scheduler.NewSchedulerCommand()
	case "manager":
		command = manager.NewControllerManagerCommand()
	default:
		exit(usage)
	}
	os.Exit(cli.Run(command))
}

func exitOn(name string, err error) {
	if err != nil {
		exit(name + ": " + err.Error())
	}
	os.Exit(0)
}

func exit(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(2)
}
