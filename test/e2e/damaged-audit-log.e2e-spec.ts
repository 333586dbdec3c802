import { sealAll } from '../support/audit-seals';
import { createCustomer } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

interface Verification {
  readonly ok: boolean;
  readonly seal_count: number;
  readonly sealed_changes: number;
  readonly unsealed_changes: number;
  readonly last_seal: { readonly number: string; readonly to_position: string };
  readonly faults: readonly {
    readonly fault: string;
    readonly seal: string;
    readonly from_position: string | null;
    readonly to_position: string | null;
  }[];
  readonly unreadable: readonly string[];
}

const UNREADABLE = `
  CREATE FUNCTION unreadable(value text) RETURNS text LANGUAGE plpgsql STABLE AS $$
  BEGIN RAISE 'invalid page in block 0 of relation' USING ERRCODE = 'XX001'; END $$`;

/**
 * Makes reads of some rows fail, as they do when PostgreSQL cannot read their page. New rows can be written.
 * @param condition of the damaged rows
 */
function damageOf(table: string, columns: string, text: string, condition: string): string[] {
  const damaged = `CASE WHEN ${condition} THEN unreadable(${text}) ELSE ${text} END AS ${text}`;
  return [
    `ALTER TABLE ${table} RENAME TO stored_${table}`,
    `CREATE VIEW ${table} AS SELECT ${columns.replace(text, damaged)} FROM stored_${table}`,
    `CREATE FUNCTION write_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN INSERT INTO stored_${table} (${columns}) SELECT (NEW).*; RETURN NEW; END $$`,
    `CREATE TRIGGER write INSTEAD OF INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION write_${table}()`,
  ];
}

const CHANGES =
  'entry_id, position, created_at, action, object_id, changes, pack, pack_position, pack_place';
const SEALS = 'number, from_position, to_position, change_count, hash, created_at';

describe('an audit log that PostgreSQL cannot read in part', () => {
  let engine: TestApp;

  beforeEach(async () => {
    engine = await startTestApp({ environment: { LOG_LEVEL: 'silent' } });
    await engine.database.query(UNREADABLE);
  });

  afterEach(() => engine.close());

  async function change(count: number): Promise<void> {
    for (let made = 0; made < count; made += 1) await createCustomer(engine);
  }

  async function verify(): Promise<Verification> {
    return (await engine.http.get('/v1/audit-log/verify').expect(200)).body as Verification;
  }

  async function run(statements: readonly string[]): Promise<void> {
    for (const sql of statements) await engine.database.query(sql);
  }

  const damageChanges = (condition: string) =>
    run(damageOf('audit_change', CHANGES, 'entry_id', condition));

  const damageSeals = (condition: string) => run(damageOf('audit_seal', SEALS, 'hash', condition));

  /** Changes a row as somebody with access to the database could. */
  async function tamper(sql: string): Promise<void> {
    await engine.database.transaction(async () => {
      await engine.database.query('SET LOCAL session_replication_role = replica');
      await engine.database.query(sql);
    });
  }

  const damagedChanges = async (): Promise<number> => {
    const { text } = await engine.http.get('/metrics');
    return Number(/^damaged_reads_total\{object="audit_change"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  };

  it('is sealed around changes that cannot be read, which verification names', async () => {
    await change(9);
    await damageChanges('position IN (3, 4, 7)');
    await sealAll(engine);
    await change(1);
    await sealAll(engine);
    const verification = await verify();
    expect(verification).toMatchObject({
      ok: false,
      seal_count: 6,
      sealed_changes: 7,
      unsealed_changes: 0,
      last_seal: { number: '6', to_position: '10' },
    });
    expect(verification.faults).toEqual([
      { fault: 'unreadable_when_sealed', seal: '2', from_position: '3', to_position: '4' },
      { fault: 'unreadable_when_sealed', seal: '4', from_position: '7', to_position: '7' },
    ]);
    expect(await damagedChanges()).toBe(3);
    await tamper(`UPDATE stored_audit_change SET object_id = 'cus_x' WHERE position = 5`);
    expect((await verify()).faults.map(({ seal, fault }) => [seal, fault])).toEqual([
      ['2', 'unreadable_when_sealed'],
      ['3', 'content_changed'],
      ['4', 'unreadable_when_sealed'],
    ]);
  });

  it('names changes that were not protected also after they were restored', async () => {
    await change(2);
    await damageChanges('position = 1');
    await sealAll(engine);
    await run(['DROP VIEW audit_change', 'ALTER TABLE stored_audit_change RENAME TO audit_change']);
    expect(await verify()).toMatchObject({
      ok: false,
      faults: [{ fault: 'unreadable_when_sealed', seal: '1', to_position: '1' }],
      unreadable: [],
    });
  });

  it('is verified around seals that cannot be read', async () => {
    for (let seal = 0; seal < 5; seal += 1) {
      await change(2);
      await sealAll(engine);
    }
    await damageSeals('number = 2');
    const verification = await verify();
    expect(verification).toMatchObject({
      ok: false,
      seal_count: 5,
      sealed_changes: 8,
      last_seal: { number: '5' },
    });
    expect(verification.faults).toEqual([
      { fault: 'seal_unreadable', seal: '2', from_position: null, to_position: null },
      { fault: 'chain_broken', seal: '3', from_position: '5', to_position: '6' },
    ]);
  });

  it('seals changes again whose last seals cannot be read', async () => {
    for (let seal = 0; seal < 4; seal += 1) {
      await change(2);
      await sealAll(engine);
    }
    await damageSeals('number IN (3, 4)');
    await change(1);
    await sealAll(engine);
    expect(await verify()).toMatchObject({
      ok: false,
      seal_count: 5,
      sealed_changes: 9,
      unsealed_changes: 0,
      last_seal: { number: '5', to_position: '9' },
      faults: [
        { fault: 'seal_unreadable', seal: '3' },
        { fault: 'seal_unreadable', seal: '4' },
      ],
    });
    await tamper(`UPDATE audit_change SET object_id = 'cus_x' WHERE position = 5`);
    expect((await verify()).faults.at(-1)).toMatchObject({ fault: 'content_changed', seal: '5' });
  });

  it('is verified also when no seal can be read', async () => {
    await change(1);
    await sealAll(engine);
    await damageSeals('true');
    expect(await verify()).toMatchObject({
      ok: false,
      last_seal: null,
      unsealed_changes: 1,
      faults: [{ fault: 'seal_unreadable', seal: '1' }],
    });
  });
});
