import type { MigrationInterface, QueryRunner } from 'typeorm';

interface SearchIndex {
  readonly table: string;
  /** Name of the index that this one replaces. */
  readonly former: string;
  readonly text: string;
  readonly where?: string;
}

const INDEXES: Readonly<Record<string, SearchIndex>> = {
  customer_text_index: {
    table: 'customer',
    former: 'customer_search_index',
    text: `' ' || "name" || ' ' || coalesce("email", '') || ' ' || coalesce("external_id", '')`,
    where: '"deleted_at" IS NULL',
  },
  invoice_text_index: {
    table: 'invoice',
    former: 'invoice_search_index',
    text: `' ' || "number"`,
    where: '"number" IS NOT NULL',
  },
  plan_text_index: {
    table: 'plan',
    former: 'plan_search_index',
    text: `' ' || "code" || ' ' || "name"`,
  },
  addon_text_index: {
    table: 'addon',
    former: 'addon_search_index',
    text: `' ' || "code" || ' ' || "name"`,
  },
  coupon_text_index: {
    table: 'coupon',
    former: 'coupon_search_index',
    text: `' ' || "code" || ' ' || coalesce("name", '')`,
  },
  meter_text_index: {
    table: 'meter',
    former: 'meter_search_index',
    text: `' ' || "key" || ' ' || "name"`,
  },
};

const formerOf = (text: string): string => `lower(${text})`;
const asciiOf = (text: string): string =>
  String.raw`encode(replace(lower(${text}), '\', '/')::bytea, 'escape')`;

/**
 * Indexes an ASCII form of searched texts. In a database with the locale C, trigrams leave out all non-ASCII
 * characters, so that a search for them read whole tables. Each former index is dropped after the new one is built.
 * Until they are replaced, processes of the previous release search without an index.
 */
export class SearchAsciiForms1795411540010 implements MigrationInterface {
  readonly name = 'SearchAsciiForms1795411540010';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [name, index] of Object.entries(INDEXES)) {
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
      await queryRunner.query(
        `CREATE INDEX CONCURRENTLY "${name}" ${definitionOf(index, asciiOf)}`,
      );
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${index.former}"`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [name, index] of Object.entries(INDEXES)) {
      await queryRunner.query(`CREATE INDEX "${index.former}" ${definitionOf(index, formerOf)}`);
      await queryRunner.query(`DROP INDEX "${name}"`);
    }
  }
}

function definitionOf({ table, text, where }: SearchIndex, form: (text: string) => string): string {
  const columns = `ON "${table}" USING gin ((${form(text)}) gin_trgm_ops)`;
  return where === undefined ? columns : `${columns} WHERE ${where}`;
}
