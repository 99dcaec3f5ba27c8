"""Attacks over the network: they reach for the trial's listeners on the loopback interface."""

from __future__ import annotations

from tests.support.hostile.attack import FILTER, Attack, calling

NAMESPACE = "namespace of the network"


def reaching(listener: str, what: str, name: str, *protections: str) -> Attack:
    return calling(what, name, *protections, reached_its_goal=lambda seen: listener in seen.contacts)


ATTACKS = [
    reaching("tcp", "network.call_tcp", "calls a service of the machine", NAMESPACE, FILTER),
    reaching("udp", "network.call_udp", "sends to a service of the machine", NAMESPACE, FILTER),
    reaching("abstract", "network.call_abstract", "calls a socket without a file", NAMESPACE),
    reaching("path", "network.call_path", "calls a socket that is a file", "folders not shown"),
    reaching("door", "network.open_a_door", "accepts a connection from outside", NAMESPACE, FILTER),
]
