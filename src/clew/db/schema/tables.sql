-- The schema as it is now: what a new database is made of, and the sum of all migrations. The owner leads every unique
-- key and every foreign key, so that all rows of one user live together and isolation is in the key.

-- One row for each user who owns anything: the counters that are taken inside the transaction that uses them.
CREATE TABLE clew.owner (
    id            {text} NOT NULL PRIMARY KEY,
    next_id       {int} NOT NULL DEFAULT 1,      -- of entries
    next_task     {int} NOT NULL DEFAULT 1,
    next_vid      {int} NOT NULL DEFAULT 1,      -- of passages
    number        {int},                         -- a short name for the full-text index; two owners may share one
    conversations {int} NOT NULL DEFAULT 0,      -- totals, kept on write
    entries       {int} NOT NULL DEFAULT 0,
    bytes         {int} NOT NULL DEFAULT 0
) {clustered};

-- An ordered log: a conversation, or a thread of context entries, or both.
CREATE TABLE clew.thread (
    owner         {text} NOT NULL REFERENCES clew.owner (id),
    id            {text} NOT NULL,
    created_at    {int} NOT NULL,
    updated_at    {int} NOT NULL,
    next_seq      {int} NOT NULL DEFAULT 1,
    version       {int} NOT NULL DEFAULT 1,      -- counts changes, for compare-and-set
    token_clock   {int} NOT NULL DEFAULT 0,      -- only ever grows
    minted        {int} NOT NULL DEFAULT 0,      -- Clew made the id
    conversation  {int} NOT NULL DEFAULT 0,      -- shown in lists of conversations
    user_entries  {int} NOT NULL DEFAULT 0,      -- what context tools see, by source, kept on write
    agent_entries {int} NOT NULL DEFAULT 0,
    image_entries {int} NOT NULL DEFAULT 0,
    expires_at    {int},
    parent_seq    {int},
    parent_id     {text},
    title         {text},
    metadata      {text},
    PRIMARY KEY (owner, id)
) {clustered};
CREATE INDEX thread_recent ON clew.thread (owner, updated_at, id) WHERE conversation = 1;
CREATE INDEX thread_minted ON clew.thread (id) WHERE minted = 1;
CREATE INDEX thread_expiry ON clew.thread (expires_at) WHERE expires_at IS NOT NULL;

-- One thing that was said, done or noted. Long columns stand last, so that the others are read without them.
CREATE TABLE clew.entry (
    owner         {text} NOT NULL REFERENCES clew.owner (id),
    id            {int} NOT NULL,
    uid           {text} NOT NULL,
    thread_id     {text} NOT NULL,               -- where it was written, or the oldest thread that still holds it
    kind          {int} NOT NULL,
    role          {text},                        -- as given; else it follows from the kind
    token_count   {int} NOT NULL,
    estimate      {text} NOT NULL,               -- the name of what counted the tokens
    created_at    {int} NOT NULL,
    updated_at    {int} NOT NULL,
    content_type  {text} NOT NULL DEFAULT 'text',
    tool_name     {text},
    tool_call_id  {text},
    model         {text},
    usage         {text},
    summary       {text},
    metadata      {text},
    folded        {text},                        -- metadata as case-insensitive filters read it; null where equal
    extra         {text},
    tool_calls    {text},
    parts         {text},                        -- content that came as a list of parts
    content       {text},
    PRIMARY KEY (owner, id)
) {table};
CREATE UNIQUE INDEX entry_uid ON clew.entry (owner, uid);

-- Puts an entry into a thread. Narrow, so that windows, counts and histories walk it and read only what they show.
CREATE TABLE clew.place (
    owner         {text} NOT NULL,
    thread_id     {text} NOT NULL,
    seq           {int} NOT NULL,
    entry_id      {int} NOT NULL,
    kind          {int} NOT NULL,
    token_count   {int} NOT NULL,                -- what a window pays for the entry
    created_at    {int} NOT NULL,
    shown         {int} NOT NULL,                -- conversation histories show it
    PRIMARY KEY (owner, thread_id, seq),
    FOREIGN KEY (owner, thread_id) REFERENCES clew.thread (owner, id),
    FOREIGN KEY (owner, entry_id) REFERENCES clew.entry (owner, id)
) {clustered};
CREATE INDEX place_entry ON clew.place (owner, entry_id);
CREATE INDEX place_time ON clew.place (owner, thread_id, created_at);
CREATE INDEX place_shown ON clew.place (owner, thread_id, seq, entry_id) WHERE shown = 1;

-- The earlier texts of an edited entry, the first one first.
CREATE TABLE clew.revision (
    owner         {text} NOT NULL,
    entry_id      {int} NOT NULL,
    n             {int} NOT NULL,
    replaced_at   {int} NOT NULL,                -- when the text after it was written
    content       {text},
    PRIMARY KEY (owner, entry_id, n),
    FOREIGN KEY (owner, entry_id) REFERENCES clew.entry (owner, id) ON DELETE CASCADE
) {table};

CREATE TABLE clew.tag (
    owner         {text} NOT NULL,
    tag           {text} NOT NULL,
    entry_id      {int} NOT NULL,
    PRIMARY KEY (owner, tag, entry_id),
    FOREIGN KEY (owner, entry_id) REFERENCES clew.entry (owner, id) ON DELETE CASCADE
) {clustered};
CREATE INDEX tag_entry ON clew.tag (owner, entry_id);

CREATE TABLE clew.image (
    owner         {text} NOT NULL,
    entry_id      {int} NOT NULL,
    position      {int} NOT NULL,
    mime_type     {text} NOT NULL,
    data          {blob} NOT NULL,
    PRIMARY KEY (owner, entry_id, position),
    FOREIGN KEY (owner, entry_id) REFERENCES clew.entry (owner, id) ON DELETE CASCADE
) {table};

-- The full-text rows of an entry, one for each part of its text.
CREATE TABLE clew.words (
    owner         {text} NOT NULL,
    entry_id      {int} NOT NULL,
    n             {int} NOT NULL,
    length        {int} NOT NULL,                -- in tokens of the index
    counts        {blob} NOT NULL,               -- how often each token stands in it
    PRIMARY KEY (owner, entry_id, n),
    FOREIGN KEY (owner, entry_id) REFERENCES clew.entry (owner, id) ON DELETE CASCADE
) {table};

-- A piece of an entry's text with its vector. `vid` only grows, so that a cache can ask for what is new.
CREATE TABLE clew.passage (
    owner         {text} NOT NULL,
    model         {text} NOT NULL,
    vid           {int} NOT NULL,
    entry_id      {int} NOT NULL,
    first         {int} NOT NULL,                -- its span, in characters of the text
    last          {int} NOT NULL,
    digest        {blob} NOT NULL,
    vector        {blob} NOT NULL,
    PRIMARY KEY (owner, model, vid),
    FOREIGN KEY (owner, entry_id) REFERENCES clew.entry (owner, id) ON DELETE CASCADE
) {table};
CREATE INDEX passage_entry ON clew.passage (owner, entry_id, model);

-- What the index has still to take up: an entry that was stored or edited.
CREATE TABLE clew.pending (
    owner         {text} NOT NULL,
    entry_id      {int} NOT NULL,
    size          {int} NOT NULL,                -- of the text: short entries go before long ones
    words         {int} NOT NULL DEFAULT 1,      -- 1 while this half of the work is left
    vectors       {int} NOT NULL DEFAULT 1,
    tries         {int} NOT NULL DEFAULT 0,
    next_try      {int} NOT NULL DEFAULT 0,
    leased_until  {int} NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, entry_id),
    FOREIGN KEY (owner, entry_id) REFERENCES clew.entry (owner, id) ON DELETE CASCADE
) {clustered};

CREATE TABLE clew.task (
    owner         {text} NOT NULL REFERENCES clew.owner (id),
    id            {int} NOT NULL,
    status        {text} NOT NULL,
    created_at    {int} NOT NULL,
    updated_at    {int} NOT NULL,
    title         {text} NOT NULL,
    description   {text} NOT NULL,
    PRIMARY KEY (owner, id)
) {table};

-- What a request id stands for: a digest of the call, and what its answer is made of. Never content.
CREATE TABLE clew.request (
    owner         {text} NOT NULL,
    scope         {text} NOT NULL,
    request_id    {text} NOT NULL,
    digest        {blob} NOT NULL,
    answered_at   {int} NOT NULL,
    uids          {text} NOT NULL,
    PRIMARY KEY (owner, scope, request_id)
) {clustered};
CREATE INDEX request_age ON clew.request (answered_at);

-- The chat turn that runs in a thread, and until when its process holds it.
CREATE TABLE clew.turn (
    owner         {text} NOT NULL,
    thread_id     {text} NOT NULL,
    request_id    {text} NOT NULL,
    process       {text} NOT NULL,
    leased_until  {int} NOT NULL,
    PRIMARY KEY (owner, thread_id),
    FOREIGN KEY (owner, thread_id) REFERENCES clew.thread (owner, id) ON DELETE CASCADE
) {table};
