"""The compiled air: the packet model of a cell as one loop of events over one array of integers.

It is `netsim.air` again, event for event and name for name, with `netsim.tcp`, `netsim.browser` and `netsim.push`:
events that fall on one instant happen in the order in which they were scheduled, backoffs are drawn from the same
streams, and policies are asked by their own rules (`netsim.policies.compiled`).  So the record of a run is that of
the packet model to the nanosecond, whatever is lost, collides or arrives out of order.

With a pair of wires for its medium (`wires`) the same loop takes the pages that `netsim.express` leaves over.

It covers every cell whose policies have a compiled form, of any number of clients and neighbours.  What is left out:
recording frames, and policies without a compiled form.
"""
