# The examples in C that are programs, and what each prints: read by the tests in the build and by that of the installed package.
set(examples hello strings leapfrog energy_control drag game sweep)
set(hello_prints "t = 0.083 s: kinetic")
set(strings_prints "t = 1.0 s: the free end is at x = ")
set(leapfrog_prints "t = 0.0500 s: total energy 0.37")
set(energy_control_prints "energy controlled, ledger closed, momentum kept")
set(drag_prints "hand at y = 1.00 m, cloth at 0.7")
set(game_prints "jelly meets paddle.*crate")
set(sweep_prints "E = 4.0e.06 Pa, 16 cells: sags by 0.03")
