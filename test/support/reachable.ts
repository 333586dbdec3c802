import type { Transitions } from '../../src/core/states';

/**
 * Returns the states that can be reached from the first one, and the first one. A table of transitions should have no
 * other states.
 */
export function reachableFrom<State extends string>(
  transitions: Transitions<State>,
  first: State,
): ReadonlySet<State> {
  const reached = new Set<State>([first]);
  for (const state of reached) for (const next of transitions[state]) reached.add(next);
  return reached;
}
