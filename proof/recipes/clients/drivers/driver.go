// Runs one call of the Go client: `driver consume '{…}'`, or a stream that prints each part on a line.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"recipe/purser"
	"strconv"
	"strings"
)

func main() {
	args := os.Args[2:]
	var answer purser.JSON
	var err error
	body := purser.JSON{}
	json.Unmarshal([]byte(args[len(args)-1]), &body)
	switch os.Args[1] {
	case "key":
		fmt.Println(purser.MakeKey(strings.Join(args, ":")))
		return
	case "check":
		answer, err = purser.Check(body)
	case "consume":
		answer, err = purser.Consume(body)
	case "hold":
		answer, err = purser.Hold(body)
	case "extend":
		answer, err = purser.Extend(args[0], body)
	case "settle":
		answer, err = purser.Settle(args[0], body)
	case "release":
		answer, err = purser.Release(args[0], body)
	case "stream":
		stream(args)
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	text, _ := json.Marshal(answer)
	fmt.Println(string(text))
}

func stream(args []string) {
	step, _ := strconv.Atoi(args[3])
	parts, _ := strconv.Atoi(args[4])
	failAfter, _ := strconv.Atoi(args[5])
	body := purser.JSON{"customerId": args[0], "feature": args[1], "idempotencyKey": args[2]}
	answer, err := purser.Stream(body, step, func(use func(int) bool) {
		for part := 1; part <= parts; part++ {
			if part > failAfter {
				panic("the work failed")
			}
			if !use(1) {
				return
			}
			fmt.Println(part)
		}
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	text, _ := json.Marshal(answer)
	fmt.Fprintln(os.Stderr, string(text))
}
