import type { TestApp } from './test-app';

export interface CapturedLog {
  text(): string;
  stop(): void;
}

/** Captures the log of applications that are started after the call, instead of writing it to the terminal. */
export function captureLog(): CapturedLog {
  const written: string[] = [];
  const spy = jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    written.push(String(chunk));
    return true;
  });
  return {
    text: () => written.join(''),
    stop: () => {
      spy.mockRestore();
    },
  };
}

/** Returns all rows of the database as text, except those of the given tables. */
export async function contentsOfTables(
  { database }: TestApp,
  ...except: readonly string[]
): Promise<string> {
  const tables = await database.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const contents: string[] = [];
  for (const { name } of tables.filter((table) => !except.includes(table.name))) {
    const rows = await database.query<{ row: string }>(`SELECT t::text AS row FROM "${name}" t`);
    contents.push(...rows.map(({ row }) => `${name} ${row}`));
  }
  return contents.join('\n');
}
