/** For each state, the states it may become. A state that may become none is terminal. */
export type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>;

/** Returns true when the table allows the transition. Staying in a state is not a transition. */
export function mayBecome<State extends string>(
  transitions: Transitions<State>,
  from: State,
  to: State,
): boolean {
  return transitions[from].includes(to);
}

export function isTerminal<State extends string>(
  transitions: Transitions<State>,
  state: State,
): boolean {
  return transitions[state].length === 0;
}

/**
 * The states that can be reached from the first one, itself included: a table should have no
 * others.
 */
export function reachableFrom<State extends string>(
  transitions: Transitions<State>,
  first: State,
): ReadonlySet<State> {
  const reached = new Set<State>([first]);
  for (const state of reached) for (const next of transitions[state]) reached.add(next);
  return reached;
}
