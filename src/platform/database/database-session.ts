/** A session of the database, as an operator finds it in `pg_stat_activity`. */
export interface DatabaseSession {
  readonly pid: number;
  readonly name: string | null;
  readonly address: string | null;
  readonly state: string | null;
  readonly since: string | null;
}

/** Columns of a `DatabaseSession`, except `pid`, from `pg_stat_activity AS activity`. */
export const SESSION_COLUMNS = `
  activity.application_name AS name, activity.client_addr AS address, activity.state,
  to_char(activity.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since`;

export function describeSession({ pid, name, address, state, since }: DatabaseSession): string {
  const details = [
    name === null || name === '' ? null : `application ${name}`,
    address === null ? null : `from ${address}`,
    since === null ? null : `connected since ${since}`,
    state,
  ].filter((detail) => detail !== null);
  return `the database session ${pid} (${details.join(', ')})`;
}
