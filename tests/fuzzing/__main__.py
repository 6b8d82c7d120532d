import sys

from tests.fuzzing.running import main

main(sys.argv[1:])
