/** The allowed next states of each state. A state without next states is terminal. */
export type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>;

/** Returns true if the table allows the transition. Staying in a state is not a transition. */
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
