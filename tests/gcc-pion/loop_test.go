// Package gccpion runs the congestion controller of pion/interceptor (pkg/gcc) in virtual time: in a closed loop over one bottleneck, or on departures and arrivals of
// packets that a file lists.
package gccpion

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

const (
	ssrc      = 1
	extension = 1
	wireBytes = 1200
	// a header of RTP with the extension
	headerBytes  = 20
	reportEvery  = 100 * time.Millisecond
	transportURI = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
)

// traffic says when packets leave and arrive, in seconds.
type traffic interface {
	// departure is the time of the next packet, after one that left at last, at a target rate in bit/s. It is infinite after the last packet.
	departure(last, bps float64) float64
	// arrival is the time at which the packet that leaves at the time at arrives; false if it is lost.
	arrival(at float64) (float64, bool)
}

// A phase of constant capacity, which begins at start seconds.
type phase struct{ start, bps float64 }

// bottleneck is a FIFO queue of limited size before a link of fixed delay. Packets leave at the target rate.
type bottleneck struct {
	phases        []phase
	buffer, delay float64
	queued, at    float64
	begun         bool
}

func (b *bottleneck) departure(last, bps float64) float64 {
	if !b.begun {
		b.begun = true
		return 0
	}
	return last + wireBytes*8/bps
}

func (b *bottleneck) arrival(at float64) (float64, bool) {
	bps := b.phases[0].bps
	for _, p := range b.phases {
		if at >= p.start {
			bps = p.bps
		}
	}
	b.queued = math.Max(0, b.queued-(at-b.at)*bps/8)
	b.at = at
	if b.queued+wireBytes > b.buffer {
		return 0, false
	}
	b.queued += wireBytes
	return at + b.queued*8/bps + b.delay, true
}

// recorded has the departures and arrivals of a file.
type recorded struct {
	rows [][2]float64
	next int
}

func (r *recorded) departure(_, _ float64) float64 {
	if r.next == len(r.rows) {
		return math.Inf(1)
	}
	return r.rows[r.next][0]
}

func (r *recorded) arrival(float64) (float64, bool) {
	at := r.rows[r.next][1]
	r.next++
	return at, !math.IsNaN(at)
}

func number(t *testing.T, text string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestTargets reads what happens to packets from THALWEG_PACKETS, a file with a line "departure,arrival" for each, in seconds, with "nan" for lost packets; or, without it,
// the bottleneck from THALWEG_PHASES ("0:1000000,40:2500000", in bit/s) and THALWEG_BUFFER (bytes). THALWEG_DELAY is the one-way delay of reports, and of packets after
// the bottleneck, THALWEG_END the end, in seconds. It writes the target rates after each report to THALWEG_TARGETS: time, target, delay-based and loss-based rate in
// bit/s; and departures and arrivals to THALWEG_OUT, as in THALWEG_PACKETS.
func TestTargets(t *testing.T) {
	targets := os.Getenv("THALWEG_TARGETS")
	if targets == "" {
		t.Skip("THALWEG_TARGETS is not set")
	}
	delay := number(t, os.Getenv("THALWEG_DELAY"))
	var source traffic
	if name := os.Getenv("THALWEG_PACKETS"); name != "" {
		source = read(t, name)
	} else {
		var phases []phase
		for _, word := range strings.Split(os.Getenv("THALWEG_PHASES"), ",") {
			start, bps, _ := strings.Cut(word, ":")
			phases = append(phases, phase{number(t, start), number(t, bps)})
		}
		source = &bottleneck{phases: phases, buffer: number(t, os.Getenv("THALWEG_BUFFER")), delay: delay}
	}
	end := number(t, os.Getenv("THALWEG_END"))
	var rates, packets []string
	synctest.Test(t, func(t *testing.T) { rates, packets = run(t, source, delay, end) })
	write(t, targets, rates)
	write(t, os.Getenv("THALWEG_OUT"), packets)
}

func read(t *testing.T, name string) *recorded {
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(bufio.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all recorded
	for _, row := range rows {
		all.rows = append(all.rows, [2]float64{number(t, row[0]), number(t, row[1])})
	}
	return &all
}

// run sends packets until end. Every 100 ms, a report of what has arrived since the last one goes back.
func run(t *testing.T, source traffic, delay, end float64) (rates, packets []string) {
	estimator, err := gcc.NewSendSideBWE(
		gcc.SendSideBWEInitialBitrate(300_000), gcc.SendSideBWEMinBitrate(30_000),
		gcc.SendSideBWEMaxBitrate(1_500_000), gcc.SendSideBWEPacer(gcc.NewNoOpPacer()))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	after := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * 1e9)) }
	recorder := twcc.NewRecorder(ssrc)
	// packets and reports arrive in order
	type arrival struct {
		at  time.Time
		seq uint16
	}
	var arrivals []arrival
	var leftAt float64
	info := &interceptor.StreamInfo{
		SSRC:                ssrc,
		RTPHeaderExtensions: []interceptor.RTPHeaderExtension{{URI: transportURI, ID: extension}},
	}
	writer := estimator.AddStream(info, interceptor.RTPWriterFunc(
		func(header *rtp.Header, payload []byte, _ interceptor.Attributes) (int, error) {
			at, arrives := source.arrival(leftAt)
			if arrives {
				arrivals = append(arrivals, arrival{after(at), header.SequenceNumber})
			} else {
				at = math.NaN()
			}
			packets = append(packets, fmt.Sprintf("%.9f,%.9f", leftAt, at))
			return header.MarshalSize() + len(payload), nil
		}))
	type report struct {
		at      time.Time
		packets []rtcp.Packet
	}
	var reports []report
	reportAt := began.Add(reportEvery)
	payload := make([]byte, wireBytes-headerBytes)
	nextAt := source.departure(0, float64(estimator.GetTargetBitrate()))
	var seq uint16
	for time.Since(began).Seconds() < end {
		now := time.Now()
		for len(arrivals) > 0 && !arrivals[0].at.After(now) {
			// a clock that does not start at 0, in microseconds
			recorder.Record(ssrc, arrivals[0].seq, arrivals[0].at.Sub(began).Microseconds()+1_000_000)
			arrivals = arrivals[1:]
		}
		if !reportAt.After(now) {
			reportAt = reportAt.Add(reportEvery)
			if packets := recorder.BuildFeedbackPacket(); len(packets) > 0 {
				reports = append(reports, report{now.Add(time.Duration(delay * 1e9)), packets})
			}
		}
		for len(reports) > 0 && !reports[0].at.After(now) {
			if err := estimator.WriteRTCP(reports[0].packets, nil); err != nil {
				t.Fatal(err)
			}
			reports = reports[1:]
			// the estimator works in goroutines
			synctest.Wait()
			stats := estimator.GetStats()
			rates = append(rates, fmt.Sprintf("%.9f,%d,%d,%d", now.Sub(began).Seconds(),
				estimator.GetTargetBitrate(), stats["delayTargetBitrate"], stats["lossTargetBitrate"]))
		}
		for !after(nextAt).After(now) {
			header := &rtp.Header{Version: 2, SSRC: ssrc, SequenceNumber: seq}
			number, err := (&rtp.TransportCCExtension{TransportSequence: seq}).Marshal()
			if err != nil {
				t.Fatal(err)
			}
			if err := header.SetExtension(extension, number); err != nil {
				t.Fatal(err)
			}
			leftAt = nextAt
			if _, err := writer.Write(header, payload, nil); err != nil {
				t.Fatal(err)
			}
			seq++
			nextAt = source.departure(leftAt, float64(estimator.GetTargetBitrate()))
			if math.IsInf(nextAt, 1) {
				nextAt = end + 1
			}
		}
		// until the next event
		next := after(nextAt)
		if reportAt.Before(next) {
			next = reportAt
		}
		if len(arrivals) > 0 && arrivals[0].at.Before(next) {
			next = arrivals[0].at
		}
		if len(reports) > 0 && reports[0].at.Before(next) {
			next = reports[0].at
		}
		time.Sleep(time.Until(next))
	}
	if err := estimator.Close(); err != nil {
		t.Fatal(err)
	}
	return rates, packets
}

func write(t *testing.T, name string, lines []string) {
	text := strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
