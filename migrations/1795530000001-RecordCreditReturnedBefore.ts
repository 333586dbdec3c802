import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Credit notes that returned credit to payments, each with the amount that is not recorded yet. */
const NOTES = `
  SELECT note.id, note.invoice_id, (note.to_credit - credit.amount - recorded.amount)::text AS amount
  FROM credit_note note JOIN credit_grant credit ON credit.source_id = note.id,
    LATERAL (SELECT coalesce(sum(amount), 0) AS amount FROM credit_return WHERE note_id = note.id) recorded
  WHERE credit.amount < note.to_credit ORDER BY note.created_at, note.id`;

/**
 * The payments whose credit an invoice used. `used`: the part that no credit note of the invoice returned. `open`: what
 * was returned to the payment and is not recorded yet. It is what invoices in effect used, less what the credit shows
 * as used.
 */
const ORIGINS = `
  SELECT credit.source_id AS payment_id,
    (own.amount - coalesce(sum(recorded.amount) FILTER (WHERE recorded.invoice_id = $1), 0))::text AS used,
    (total.amount - (credit.amount - credit.remaining - credit.reserved - credit.refunded - credit.lost)
      - coalesce(sum(recorded.amount), 0))::text AS open
  FROM (SELECT one ->> 'creditId' AS id, (one #>> '{amountMinor,$bigint}')::bigint AS amount
      FROM invoice, LATERAL jsonb_array_elements(credits) AS one WHERE invoice.id = $1) own
    JOIN credit_grant credit USING (id)
    CROSS JOIN LATERAL (SELECT sum((one #>> '{amountMinor,$bigint}')::bigint) AS amount
      FROM invoice, LATERAL jsonb_array_elements(credits) AS one
      WHERE customer_id = credit.customer_id AND status IN ('open', 'paid', 'uncollectible')
        AND one ->> 'creditId' = credit.id) total
    LEFT JOIN credit_return recorded ON recorded.payment_id = credit.source_id
  WHERE starts_with(credit.source_id, 'pay_')
  GROUP BY credit.id, own.amount, total.amount ORDER BY credit.source_id`;

const RECORD = `
  INSERT INTO credit_return (note_id, payment_id, invoice_id, amount) VALUES ($1, $2, $3, $4)
  ON CONFLICT (note_id, payment_id) DO UPDATE SET amount = credit_return.amount + excluded.amount`;

const lesser = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/**
 * Records the returned credit of existing credit notes. The stored amounts give the sum for each note and for each
 * payment. If this allows several distributions, older payments come first, as in the previous release.
 */
export class RecordCreditReturnedBefore1795530000001 implements MigrationInterface {
  readonly name = 'RecordCreditReturnedBefore1795530000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    const notes = (await queryRunner.query(NOTES)) as readonly Record<
      'id' | 'invoice_id' | 'amount',
      string
    >[];
    for (const note of notes) {
      let missing = BigInt(note.amount);
      for (const limit of ['open', 'used'] as const) {
        const origins = (await queryRunner.query(ORIGINS, [note.invoice_id])) as readonly Record<
          'payment_id' | 'used' | 'open',
          string
        >[];
        for (const origin of origins) {
          const most = lesser(BigInt(origin.used), BigInt(origin[limit]));
          const amount = lesser(missing, most);
          if (amount <= 0n) continue;
          missing -= amount;
          const row = [note.id, origin.payment_id, note.invoice_id, amount.toString()];
          await queryRunner.query(RECORD, row);
        }
      }
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('TRUNCATE "credit_return"');
  }
}
