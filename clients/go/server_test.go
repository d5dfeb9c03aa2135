package signalbox_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	signalbox "github.com/signalbox-dev/signalbox/clients/go"
)

const (
	// The debug build may load a model and embed the catalogue first, on a busy machine.
	startTime = 15 * time.Minute
	stopTime  = time.Minute
)

// doors has the ways into the one server that all tests share, by name.
var doors map[string]string

// TestMain runs the real binary around the tests.
func TestMain(m *testing.M) {
	code, err := serveAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func serveAndRun(m *testing.M) (code int, err error) {
	repository, err := filepath.Abs("../..")
	if err != nil {
		return 0, err
	}
	binary, err := findBinary(repository)
	if err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp("", "sb-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	tcp, err := freeAddress()
	if err != nil {
		return 0, err
	}
	socket := filepath.Join(folder, "door.sock")
	doors = map[string]string{"tcp": tcp, "unix": "unix://" + socket}

	arguments := []string{"serve",
		"--listen", tcp, "--uds", socket,
		"--catalog", filepath.Join(repository, "catalogs", "starter")}
	// The real model where the Rust tests left the catalogue's vectors, so that the server is
	// ready at once; else routing by tokens alone.
	vectors := filepath.Join(targetFolder(repository), "tmp", "starter-vectors")
	if _, err := os.Stat(vectors); err == nil {
		data := filepath.Join(folder, "data")
		if err := os.CopyFS(data, os.DirFS(vectors)); err != nil {
			return 0, err
		}
		models := filepath.Join(repository, "models", "weights")
		arguments = append(arguments, "--models-dir", models, "--data-dir", data)
	} else {
		arguments = append(arguments, "--model", "none")
	}

	var output bytes.Buffer
	server := exec.Command(binary, arguments...)
	server.Dir, server.Stdout, server.Stderr = folder, &output, &output
	server.Env = cleanEnvironment()
	if err := server.Start(); err != nil {
		return 0, err
	}
	exited := make(chan error, 1)
	go func() { exited <- server.Wait() }()

	if err := waitUntilReady(tcp, exited); err != nil {
		_ = server.Process.Kill()
		select { // Only then is the output complete, and nobody else's.
		case <-exited:
		case <-time.After(5 * time.Second):
		}
		return 0, fmt.Errorf("%w\n%s", err, output.String())
	}
	code = m.Run()

	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		return code, fmt.Errorf("SIGTERM: %w", err)
	}
	select {
	case err := <-exited:
		if err != nil {
			return code, fmt.Errorf("SIGTERM ended the server with %w\n%s", err, output.String())
		}
	case <-time.After(stopTime):
		_ = server.Process.Kill()
		return code, fmt.Errorf("the server did not end within %s of SIGTERM", stopTime)
	}
	return code, nil
}

// cleanEnvironment has no settings of whoever runs the tests: a server's are its flags.
func cleanEnvironment() []string {
	clean := slices.DeleteFunc(os.Environ(), func(each string) bool {
		return strings.HasPrefix(each, "SIGNALBOX_")
	})
	return append(clean, "SIGNALBOX_ADMIN__LISTEN=")
}

// spawn starts a server of a test's own, without a model, and waits until it is ready. It is killed
// with the test, or before by the function returned.
func spawn(t *testing.T, address, data string) (kill func()) {
	t.Helper()
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	binary, err := findBinary(repository)
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(binary, "serve", "--listen", address, "--data-dir", data,
		"--model", "none", "--catalog", filepath.Join(repository, "catalogs", "starter"))
	server.Env = cleanEnvironment()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() {
		exited <- server.Wait()
		close(exited)
	}()
	kill = func() {
		_ = server.Process.Kill()
		<-exited
	}
	t.Cleanup(kill)
	if err := waitUntilReady(address, exited); err != nil {
		t.Fatal(err)
	}
	return kill
}

// findBinary answers the binary to test: SIGNALBOX_BIN, else the release build, else the debug
// build.
func findBinary(repository string) (string, error) {
	if named := os.Getenv("SIGNALBOX_BIN"); named != "" {
		return filepath.Abs(named)
	}
	target := targetFolder(repository)
	for _, profile := range []string{"release", "debug"} {
		binary := filepath.Join(target, profile, "signalbox")
		if _, err := os.Stat(binary); err == nil {
			return binary, nil
		}
	}
	return "", fmt.Errorf("no binary to test in %s: run `cargo build` or set SIGNALBOX_BIN", target)
}

// targetFolder answers where cargo puts what it builds.
func targetFolder(repository string) string {
	target := os.Getenv("CARGO_TARGET_DIR")
	if target == "" {
		target = "target"
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(repository, target)
	}
	return target
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

func waitUntilReady(target string, exited <-chan error) error {
	client, err := signalbox.New(target)
	if err != nil {
		return err
	}
	defer client.Close()
	last := "never asked"
	for until := time.Now().Add(startTime); time.Now().Before(until); {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		answer, err := client.Health.Check(ctx,
			&healthpb.HealthCheckRequest{Service: "readiness"}, grpc.WaitForReady(true))
		cancel()
		switch {
		case err != nil:
			last = err.Error()
		case answer.Status == healthpb.HealthCheckResponse_SERVING:
			return nil
		default:
			last = answer.Status.String()
		}
		select {
		case err := <-exited:
			return fmt.Errorf("the server ended before it was ready (%v)", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
	return fmt.Errorf("the server was not ready within %s: %s", startTime, last)
}

// eachDoor runs a test once for each way in.
func eachDoor(t *testing.T, test func(t *testing.T, ctx context.Context, client *signalbox.Client)) {
	for name, target := range doors {
		t.Run(name, func(t *testing.T) {
			client, err := signalbox.New(target)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			test(t, ctx, client)
		})
	}
}

// serviceName cuts the method off "/package.Service/Method".
func serviceName(fullMethod string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(fullMethod, "/"), "/")
	return name
}
