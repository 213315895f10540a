#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts test cases from Bazel's build events and the tests' logs: N passed, N failed, N skipped.

usage: count_tests.py EVENTS.json

A target whose log (test.xml) lists its cases counts by case, so a case that skips itself counts as
skipped; a target without such a list counts as one. A target that could not be built, timed out or
broke off counts as one failure, and so does a build that failed without naming a target (a BUILD
file that does not parse takes its tests out of sight). Of a flaky test the last attempt counts.
Exit code: 1 if anything failed or nothing ran, 0 otherwise.
"""

import json
import os
import re
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree


def cases_of(log):
    """(passed, failed, skipped) of a test.xml, or None where it lists no cases."""
    try:
        root = ElementTree.parse(log).getroot()
    except (OSError, ElementTree.ParseError):
        return None
    passed = failed = skipped = 0
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("result") == "skipped":
            skipped += 1
        elif case.get("status") == "notrun":
            continue
        else:
            passed += 1
    # Bazel's own file for a program that wrote none has one case, named after the program.
    return (passed, failed, skipped) if passed + failed + skipped else None


def path_of(uri):
    return urllib.parse.unquote(re.sub("^file://", "", uri))


def main(events_path):
    logs = {}  # label -> {(run, shard): (attempt, test.xml)}
    verdicts = {}  # label -> status
    build_failed = True  # until Bazel says how it ended
    skipped_targets = set()
    built = set()
    tests = set()
    with open(events_path, encoding="utf-8") as events:
        for line in events:
            if not line.strip():
                continue
            event = json.loads(line)
            name = event.get("id", {})
            if "targetConfigured" in name and event.get("configured", {}).get("testSize"):
                tests.add(name["targetConfigured"]["label"])
            elif "testResult" in name:
                result = name["testResult"]
                for output in event.get("testResult", {}).get("testActionOutput", []):
                    if output.get("name") == "test.xml" and "uri" in output:
                        found = (result.get("attempt", 1), path_of(output["uri"]))
                        runs = logs.setdefault(result["label"], {})
                        key = (result.get("run", 1), result.get("shard", 1))
                        runs[key] = max(found, runs.get(key, found))
            elif "testSummary" in name:
                verdicts[name["testSummary"]["label"]] = event["testSummary"]["overallStatus"]
            elif "targetCompleted" in name and event.get("aborted", {}).get("reason") == "SKIPPED":
                skipped_targets.add(name["targetCompleted"]["label"])
            elif "targetCompleted" in name and event.get("completed", {}).get("success"):
                built.add(name["targetCompleted"]["label"])
            elif "buildFinished" in name:
                # Otherwise, BUILD_FAILURE or INTERRUPTED: some target or package was not built or run.
                ends = ("SUCCESS", "TESTS_FAILED", "NO_TESTS_FOUND")
                build_failed = event.get("finished", {}).get("exitCode", {}).get("name") not in ends

    passed = failed = skipped = 0
    for label in sorted(tests | set(verdicts)):
        verdict = verdicts.get(label)
        if label in skipped_targets:
            skipped += 1
            continue
        if verdict is None and label in built and not build_failed:
            continue  # left out by --test_tag_filters
        if verdict is None or verdict == "NO_STATUS":
            failed += 1
            print("did not build or run: " + label)
            continue
        good = verdict in ("PASSED", "FLAKY")
        counts = [count for _, log in logs.get(label, {}).values() if (count := cases_of(log))]
        p, f, s = (sum(column) for column in zip(*counts)) if counts else (0, 0, 0)
        if not good and not f:
            f = 1
        if good and not (p or s):
            p = 1
        passed, failed, skipped = passed + p, failed + f, skipped + s
    if build_failed and not failed:
        failed = 1
        print("the build failed: see Bazel's errors above")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
