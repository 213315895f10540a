# SPDX-License-Identifier: Apache-2.0
"""What check_cuda_resources.py reads off ptxas's words, and that each kind of fault is found."""

import importlib.util
import io
import sys
import unittest

sys.dont_write_bytecode = True

# As ptxas of CUDA 13.0 writes it: the device function that Small calls comes after Small.
LOG = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z5SmallPfi' for 'sm_75'
ptxas info    : Function properties for _Z5SmallPfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 41 registers, used 0 barriers, 364 bytes cmem[0]
ptxas info    : Compile time = 5.389 ms
ptxas info    : Function properties for _Z6helperPfi
    8 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Compiling entry function '_Z5SpillPKfPf' for 'sm_75'
ptxas info    : Function properties for _Z5SpillPKfPf
    632 bytes stack frame, 628 bytes spill stores, 888 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 632 bytes cumulative stack size, 368 bytes cmem[0]
ptxas info    : Compile time = 74.908 ms
"""


def faults(log, max_registers, max_spill_bytes):
    out = io.StringIO()
    return checker.check({"log": log}, max_registers, max_spill_bytes, out), out.getvalue()


class CheckCudaResources(unittest.TestCase):
    def test_reads_registers_and_spills_of_each_kernel(self):
        self.assertEqual(
            checker.kernels_of(LOG),
            [("_Z5SmallPfi", "sm_75", 41, 12), ("_Z5SpillPKfPf", "sm_75", 64, 1516)],
        )

    def test_is_silent_at_the_limits(self):
        self.assertEqual(faults(LOG, {"": 64, "Small": 41}, 1516)[0], 0)

    def test_counts_one_register_too_many(self):
        count, text = faults(LOG, {"Small": 40}, None)
        self.assertEqual(count, 1)
        self.assertIn("41 registers; expected at most 40", text)
        self.assertEqual(faults(LOG, {"": 40}, None)[0], 2)

    def test_counts_spills(self):
        self.assertEqual(faults(LOG, {}, 0)[0], 2)
        self.assertEqual(faults(LOG, {}, 12)[0], 1)
        self.assertEqual(faults(LOG, {}, None)[0], 0)

    def test_takes_no_other_kernel_for_the_one_named(self):
        self.assertEqual(faults(LOG, {"Spill": 64}, None)[0], 0)
        self.assertEqual(faults(LOG, {"Spi": 63}, None)[0], 1)

    def test_fails_where_nothing_was_checked(self):
        self.assertEqual(faults("ptxas info    : 0 bytes gmem\n", {}, None)[0], 1)
        self.assertEqual(faults(LOG, {"Missing": 64}, None)[0], 1)

    def test_fails_where_spills_belong_to_nobody(self):
        self.assertEqual(faults("    4 bytes spill stores, 4 bytes spill loads\n" + LOG, {}, None)[0], 1)


if __name__ == "__main__":
    spec = importlib.util.spec_from_file_location("checker", sys.argv.pop())
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)
    unittest.main()
