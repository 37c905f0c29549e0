// Package purser is a client for Purser without dependencies. Copy it and change it. The README explains its rules.
package purser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"net/http"
	"os"
	"time"
)

type JSON map[string]any

// MakeKey begins with the environment, because Test and Live share idempotency keys: live:chat:msg_5521.
func MakeKey(name string) string                 { return os.Getenv("PURSER_KEY")[4:8] + ":" + name }
func Check(body JSON) (JSON, error)              { return call("check", body, 1) }
func Consume(body JSON) (JSON, error)            { return call("consume", body, 10) }
func Hold(body JSON) (JSON, error)               { return call("holds", body, 10) }
func Extend(id string, body JSON) (JSON, error)  { return call("holds/"+id+"/extend", body, 10) }
func Settle(id string, body JSON) (JSON, error)  { return call("holds/"+id+"/settle", body, 30) }
func Release(id string, body JSON) (JSON, error) { return call("holds/"+id+"/release", body, 30) }

// Sends the same bytes again until there is a definite response or the deadline has passed. An error response has a code.
func call(path string, body JSON, seconds float64) (JSON, error) {
	data, _ := json.Marshal(body)
	client := http.Client{Timeout: time.Duration(math.Min(3, seconds) * float64(time.Second))}
	for start, backoff := time.Now(), 0.2; ; backoff = math.Min(2*backoff, 5) {
		request, err := http.NewRequest("POST", os.Getenv("PURSER_URL")+"/v1/"+path, bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		request.Header = http.Header{"Authorization": {"Bearer " + os.Getenv("PURSER_KEY")}, "Content-Type": {"application/json"}}
		answer, status, wait := JSON{}, 0, 0.0
		response, err := client.Do(request)
		if err == nil {
			err, status = json.NewDecoder(response.Body).Decode(&answer), response.StatusCode
			response.Body.Close()
			fmt.Sscan(response.Header.Get("Retry-After"), &wait)
		}
		if err == nil && status == 200 {
			return answer, nil
		}
		wait += rand.Float64() * backoff
		if status > 200 && status < 500 && status != 429 || time.Since(start).Seconds()+wait >= seconds {
			return answer, fmt.Errorf("purser: %s: %d %v, %v", path, status, answer["code"], err)
		}
		time.Sleep(time.Duration(wait * float64(time.Second)))
	}
}

// Stream holds credits while work runs, and charges for what was used, even if work panics. Before each part, work calls use with the
// part's quantity. If use returns false, the customer cannot pay, and work stops. Step is the extra quantity to hold at each extension.
func Stream(body JSON, step int, work func(use func(int) bool)) (answer JSON, err error) {
	body["quantity"] = 1
	if answer, err = Hold(body); err != nil || answer["allowed"] == false {
		return answer, err
	}
	id, held, used, extendedAt := answer["holdId"].(string), 1, 0, time.Now()
	end, ending := Release, JSON{"customerId": body["customerId"]}
	defer func() { answer, err = end(id, ending) }()
	work(func(more int) bool {
		// Extends the hold by several parts at once, and also well before it expires.
		for total := used + more + step; used+more > held || time.Since(extendedAt) > 450*time.Second; {
			extended, err := Extend(id, JSON{"customerId": body["customerId"], "quantity": total, "expiresInSeconds": 900})
			if most, _ := extended["affordableQuantity"].(float64); extended["allowed"] == true {
				held, extendedAt = total, time.Now()
			} else if total = int(most); err != nil || total < used+more {
				return false
			}
		}
		used, end, ending["quantity"] = used+more, Settle, used+more
		return true
	})
	return answer, err
}
